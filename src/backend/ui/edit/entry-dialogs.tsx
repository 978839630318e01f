import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { call, type Entry } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { RouteLink } from '../components/definition-parts.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { pageOf } from './describe-save.ts'
import { useDraftValue } from './draft.ts'
import { lastSave, refreshDraft, saveChange } from './save-change.ts'
import { isMap, isWithin, keysOf, pointerOf } from './values.ts'
import { entryTexts as texts, renameTexts as rename } from './entry-texts.ts'

// Adding, renaming and deleting a named entry of waypost.yml.

/** The keys of waypost.yml with named entries. */
export type Kind = 'routes' | 'schema' | 'scope' | 'event' | 'action' | 'connection' | 'rate' | 'cronjob'

const names = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
const patterns: Readonly<Partial<Record<Kind, RegExp>>> = {
  routes: /^\//,
  event: /^(?!waypost\.)[A-Za-z0-9][A-Za-z0-9._:/-]*$/,
  scope: /^[!#-+\--[\]-~]+$/,
}

/** Says why an entry cannot have a name. */
export function findNameProblem(kind: Kind, name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return texts.taken(name)
  if (name === '' || (patterns[kind] ?? names).test(name)) return undefined
  return kind in texts.invalid ? texts.invalid[kind as keyof typeof texts.invalid] : texts.invalid.other
}

/** The names of the entries of a kind in the files. */
export function useEntryNames(kind: Kind): readonly string[] {
  const { data } = useDraftValue(pointerOf(kind))
  return isMap(data?.value) ? Object.keys(data.value) : []
}

type Use = Entry<'GET /draft/use'>

/** The places that use an entry; none for what cannot be named, such as a method. */
function useUses(at: string) {
  const canBeUsed = keysOf(at).length === 2
  const found = useQuery({
    queryKey: ['draft', 'use', at],
    queryFn: ({ signal }) => call('GET /draft/use', { query: { at } }, signal),
    enabled: canBeUsed,
    staleTime: 0,
  })
  return { uses: canBeUsed ? found.data?.entry : [], error: loadingErrorOf(found) }
}

/** The places that use an entry. */
export function Uses({ at }: { readonly at: string }) {
  const { uses, error } = useUses(at)
  if (error !== undefined) return <ProblemAlert error={error} />
  if (uses === undefined) return null
  return uses.length === 0 ? <p className="soft">{texts.unused}</p> : <UseList uses={uses} />
}

/** Places that name an entry, with links to the pages of their entries. */
export function UseList({ uses }: { readonly uses: readonly (Use & { readonly note?: ReactNode })[] }) {
  return (
    <ul className="use-list">
      {uses.map(({ at, source, note }, index) => (
        <li key={index}>
          {at === null ? null : <UsePlace at={at} />}
          <span translate="no" className="soft mono wrap">
            {source}
          </span>
          {note}
        </li>
      ))}
    </ul>
  )
}

const pages = {
  schema: '/schemas/$name',
  event: '/events/$name',
  action: '/actions/$name',
  connection: '/connections/$name',
  cronjob: '/cronjobs/$name',
} as const

function UsePlace({ at }: { readonly at: string }) {
  // The position in a list says nothing.
  const keys = keysOf(at.replace(/\/\d+$/, ''))
  const [section = '', name = '', part, method = '', ...inner] = keys
  if (section === 'routes' && part === 'methods') return <RouteUse name={`${method} ${name}`} rest={inner} />
  const rest = keys.slice(2)
  if (section === 'routes')
    return (
      <code translate="no" className="wrap">
        {keys.slice(1).join(' › ')}
      </code>
    )
  if (!(section in pages))
    return (
      <code translate="no" className="wrap">
        {keys.join(' › ')}
      </code>
    )
  return (
    <>
      <Link to={pages[section as keyof typeof pages]} params={{ name }}>
        <bdi translate="no">{name}</bdi>
      </Link>
      <code translate="no" className="wrap">
        {rest.join(' › ')}
      </code>
    </>
  )
}

function RouteUse({ name, rest }: { readonly name: string; readonly rest: readonly string[] }) {
  return (
    <>
      <RouteLink name={name} />
      <code translate="no" className="wrap">
        {rest.join(' › ')}
      </code>
    </>
  )
}

interface RenameEntryProps {
  /** The JSON pointer of the entry. */
  readonly at: string
  /** What renaming means for others. */
  readonly text?: string
  onRenamed(to: string): Promise<unknown>
  onClose(): void
}

/** Renames an entry and everything that refers to it, which is listed before. */
export function RenameEntry({ at, text, onRenamed, onClose }: RenameEntryProps) {
  const [kind, name] = keysOf(at) as [Kind, string]
  const queries = useQueryClient()
  const taken = useEntryNames(kind)
  const { data } = useDraftValue(at)
  const { uses, error } = useUses(at)
  const [to, setTo] = useState(name)
  const problem = to === name ? undefined : findNameProblem(kind, to, taken)
  return (
    <FormDialog
      title={rename.title(name)}
      action={rename.action}
      onSave={async () => {
        if (to === name || to === '' || problem !== undefined || data === undefined) return
        const { saved } = await call('POST /draft/rename', { body: { at, to, if: data.etag ?? null } })
        lastSave.set(saved, { entries: [{ name: rename.fromTo(name, to), fields: [] }], pages: [pageOf(kind, to)] })
        announce(rename.done(name, to))
        onClose()
        await onRenamed(to)
        await refreshDraft(queries)
      }}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            label={rename.name}
            description={text}
            name="to"
            className="mono-input"
            data-autofocus
            required
            error={problem ?? errorOf('to')}
            value={to}
            onChange={(event) => setTo(event.currentTarget.value.trim())}
          />
          {error === undefined ? null : <ProblemAlert error={error} />}
          {uses === undefined ? null : (
            <div className="stack-small">
              <p>{rename.uses(uses.length)}</p>
              <UseList uses={uses} />
            </div>
          )}
        </>
      )}
    </FormDialog>
  )
}

interface DeleteEntryProps {
  /** The JSON pointer of what is removed. */
  readonly at: string
  /** As users know it: `POST /todo`. */
  readonly name: string
  /** How often it was called in the last 24 hours. */
  readonly calls?: number
  /** What deleting means for others. */
  readonly children?: ReactNode
  /** Leaves the page of the entry. */
  onDeleted?(): Promise<unknown>
  onClose(): void
}

/** Deletes an entry while nothing refers to it. */
export function DeleteEntry({ at, name, calls, children, onDeleted, onClose }: DeleteEntryProps) {
  const queries = useQueryClient()
  const { data } = useDraftValue(at)
  const { uses, error } = useUses(at)
  const others = uses?.filter((use) => use.at === null || !isWithin(use.at, at))
  return (
    <ConfirmDialog
      title={texts.deleteTitle(name)}
      action={texts.delete(name)}
      isDanger
      isDisabled={data?.etag === undefined || others?.length !== 0}
      onConfirm={async () => {
        await saveChange(
          queries,
          { edits: [{ at, if: data!.etag! }] },
          { onSaved: async () => (announce(texts.deleted(name)), onDeleted?.()) },
        )
      }}
      onClose={onClose}
    >
      <div className="stack-small">
        {error === undefined ? null : <ProblemAlert error={error} />}
        {calls === undefined ? null : <p className={calls > 0 ? 'strong' : undefined}>{texts.calls(calls)}</p>}
        {others === undefined || others.length === 0 ? (
          (children ?? <p>{texts.unused}</p>)
        ) : (
          <>
            <p>{texts.inUse}</p>
            <UseList uses={others} />
          </>
        )}
      </div>
    </ConfirmDialog>
  )
}

interface NameEntryProps {
  readonly kind: Kind
  readonly title: string
  /** The name of the action, on its button. */
  readonly action: string
  readonly nameText: string
  /** Whether it asks for a description, and what it is for. */
  readonly description?: string | true
  readonly size?: number
  /** Other fields. */
  readonly children?: ReactNode
  onSave(name: string, description: string): Promise<unknown> | void
  onClose(): void
}

/** Asks for the name of a new entry, and for what else it begins with. */
export function NameEntry(props: NameEntryProps) {
  const { kind, title, action, nameText, description: text, size = 520, children, onSave, onClose } = props
  const taken = useEntryNames(kind)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const problem = findNameProblem(kind, name, taken)
  return (
    <FormDialog
      title={title}
      size={size}
      action={action}
      onSave={async () => {
        if (name !== '' && problem === undefined) await onSave(name, description)
      }}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            label={texts.name}
            description={nameText}
            name="name"
            className="mono-input"
            data-autofocus
            required
            error={problem ?? errorOf('name')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value.trim())}
          />
          {text === undefined ? null : (
            <TextInput
              label={texts.description}
              description={text === true ? undefined : text}
              name="description"
              dir="auto"
              value={description}
              onChange={(event) => setDescription(event.currentTarget.value)}
            />
          )}
          {children}
        </>
      )}
    </FormDialog>
  )
}
