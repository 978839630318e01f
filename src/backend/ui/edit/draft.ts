import { queryOptions, useQuery } from '@tanstack/react-query'
import { call, callWithEtag, type ResponseOf } from '../api/call.ts'
import { Problem } from '../api/send.ts'
import { config, hasDraft } from '../config.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'

/** The definition that the pages edit: a folder in `dev`, the draft of a server elsewhere. */
export type Draft = ResponseOf<'GET /draft'>
/** A problem in the definition files. `at` is a JSON pointer in waypost.yml; null if the file could not be parsed. */
export type Diagnostic = Draft['diagnostics'][number]
export type FileChange = Draft['changes'][number]

/** A value of the definition as it is in its file. Without a value there is none. */
export interface DraftValue extends ResponseOf<'GET /draft/value'> {
  readonly value: unknown
  readonly etag: string | undefined
}

export interface DraftFile extends ResponseOf<'GET /draft/file'> {
  readonly etag: string | undefined
}

const pollMs = 3000

/** The state of the draft, asked for again while the page is visible; null on servers without a draft. */
export const draftQuery = queryOptions({
  queryKey: ['draft', 'state'],
  queryFn: ({ signal }) => orNothing(call('GET /draft', {}, signal)),
  enabled: () => hasDraft && sessionStore.get()?.scopes.includes('backend.read') === true,
  refetchInterval: ({ state }) => (state.data === null ? false : pollMs),
  retryOnMount: false, // many parts of a page read it
})

/** Changing files of the folder serves them at once. */
const writeScope = config.isDevelopment ? 'backend.deploy' : 'backend.write'

/** The draft; undefined if there is none or it is not loaded yet. */
export function useDraft(): Draft | undefined {
  return useQuery(draftQuery).data ?? undefined
}

/** Whether the user may change files of the draft. The server decides; this only hides what would be refused. */
export function useHasDraft(): boolean {
  const scopes = useStore(sessionStore)?.scopes ?? []
  return useDraft() !== undefined && scopes.includes(writeScope)
}

/** The draft of a server, whose changes are served when they are published; undefined in `dev`. */
export function useServerDraft(): Draft | undefined {
  const draft = useDraft()
  return draft?.mode === 'server' ? draft : undefined
}

/** Whether the pages show editors. While a file cannot be parsed they show the last good state, read-only. */
export function useCanEdit(): boolean {
  const isBroken = useDraft()?.diagnostics.some(({ code }) => code === 'WP_DEFINITION_YAML') === true
  return useHasDraft() && !isBroken
}

export function valueQuery(at: string) {
  return queryOptions({
    queryKey: ['draft', 'value', at],
    async queryFn({ signal }): Promise<DraftValue> {
      const { data, etag } = await callWithEtag('GET /draft/value', { query: { at } }, { signal })
      return { ...data, value: data.value, etag }
    },
  })
}

/** The value at a JSON pointer of waypost.yml. */
export function useDraftValue(at: string) {
  return useQuery(valueQuery(at))
}

export function fileQuery(file: string) {
  return queryOptions({
    queryKey: ['draft', 'file', file],
    async queryFn({ signal }): Promise<DraftFile> {
      const { data, etag } = await callWithEtag('GET /draft/file', { query: { path: file } }, { signal })
      return { ...data, etag }
    },
  })
}

/** The JSON Schema of waypost.yml. */
export function useDefinitionSchema() {
  return useQuery({
    queryKey: ['definition-schema'],
    queryFn: ({ signal }) => call('GET /definition-schema', {}, signal),
    staleTime: Infinity,
  }).data
}

async function orNothing<Value>(response: Promise<Value>): Promise<Value | null> {
  try {
    return await response
  } catch (error) {
    if (error instanceof Problem && error.code === 'WP_BACKEND_DRAFT') return null
    throw error
  }
}
