import { Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call } from '../api/call.ts'
import { definitionQuery } from '../api/definition.ts'
import { keepWithin } from '../api/keep-within.ts'
import { loadingErrorOf } from '../api/send.ts'
import { endSentence, ProblemAlert } from '../components/problem.tsx'
import { useScopes } from '../components/access.tsx'
import { CodeEditor } from './code-editor.tsx'
import type { CompletionNames } from './complete-yaml.ts'
import { useHasDraft, useDefinitionSchema, useDraftValue, type Diagnostic, type DraftValue } from './draft.ts'
import { useFileEdit } from './draft-edit.ts'
import { SaveBar } from './save-bar.tsx'
import { isMap, keysOf } from './values.ts'
import { filesTexts } from './edit-texts.ts'

const yamlTexts = {
  problems: 'Problems',
  line: (line: number) => `Line ${line}`,
  locked: 'Read-only: the form has unsaved changes',
  formLocked: 'The YAML tab has unsaved changes. Save or discard them first.',
} as const

/** What a new entry is written to. */
const mainFile = 'waypost.yml'

interface YamlTabProps {
  /** The JSON pointer of the entry. */
  readonly at: string
  /** Whether another part of the page has unsaved changes: the text is read-only until they are saved. */
  readonly isLocked?: boolean
}

/** The file of an entry, exactly as it is, opened at the entry. */
export function YamlTab({ at, isLocked = false }: YamlTabProps) {
  const { data, error, refetch } = useDraftValue(at)
  const failure = loadingErrorOf({ data, error })
  if (failure !== undefined) return <ProblemAlert error={failure} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={240} />
  if (data.file === null) return <FileEditor file={mainFile} isLocked={isLocked} hasName />
  return <FileEditor file={data.file} entry={data} isLocked={isLocked} hasName />
}

interface FileEditorProps {
  readonly file: string
  /** The entry to open the file at. */
  readonly entry?: DraftValue
  readonly isLocked?: boolean
  /** Whether the name of the file is above it. */
  readonly hasName?: boolean
}

/** The text of a definition file, with completion and its problems. */
export function FileEditor({ file, entry, isLocked = false, hasName = false }: FileEditorProps) {
  const edit = useFileEdit(file)
  const canEdit = useHasDraft()
  const completion = useCompletion(edit.loaded?.at)
  const checked = useCheck(file, edit.text, edit.changes > 0)
  if (edit.loadError !== null) return <ProblemAlert error={edit.loadError} />
  if (edit.loaded === undefined) return <Skeleton height={240} />
  const found = edit.changes === 0 ? edit.loaded.diagnostics : (checked ?? edit.refused)
  const diagnostics = found.filter((one) => one.file === file)
  return (
    <div className="stack">
      <div>
        <p className="file-name">
          {hasName ? (
            <span translate="no" className="mono" dir="auto">
              {file}
            </span>
          ) : null}
          {isLocked ? <span className="soft">{yamlTexts.locked}</span> : null}
        </p>
        <CodeEditor
          value={edit.text}
          onChange={canEdit && !isLocked ? edit.set : undefined}
          language={file.endsWith('.json') ? 'json' : 'yaml'}
          label={file}
          diagnostics={diagnostics}
          {...(completion === undefined ? {} : { completion })}
          marked={edit.changes === 0 ? markOf(entry, edit.text) : undefined}
        />
        {edit.refused.length === 0 ? <Problems diagnostics={diagnostics} /> : null}
      </div>
      {canEdit && !isLocked ? <SaveBar edit={edit} /> : null}
    </div>
  )
}

const maxShown = 5

/** What the marks in the gutter say, as text. */
function Problems({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) {
  const rest = diagnostics.length - maxShown
  return (
    <ul className="code-problems" aria-label={yamlTexts.problems} aria-live="polite">
      {diagnostics.slice(0, maxShown).map(({ severity, line, column, message, hint }) => (
        <li key={`${line}:${column} ${message}`} data-severity={severity}>
          <span className="soft">{yamlTexts.line(line)}</span> <span dir="auto">{endSentence(message)}</span>
          {hint === null ? null : <span dir="auto"> {endSentence(hint)}</span>}
        </li>
      ))}
      {rest > 0 ? <li className="soft">{filesTexts.moreErrors(rest)}</li> : null}
    </ul>
  )
}

const pauseMs = 300

/** The problems of a text that is not saved, from the parser and checks of the server: those that it has when saved. */
function useCheck(file: string, typed: string, isChanged: boolean) {
  const [text] = useDebouncedValue(typed, pauseMs)
  return useQuery({
    queryKey: ['draft', 'check', file, text],
    queryFn: ({ signal }) => call('POST /draft/check', { body: { files: [{ file, text }] } }, signal),
    enabled: isChanged,
    placeholderData: keepWithin(['draft', 'check', file]),
    gcTime: 0,
  }).data?.diagnostics
}

function lineOf(entry: DraftValue): number {
  return Number(/:(\d+)$/.exec(entry.source ?? '')?.[1] ?? 1)
}

/** The lines of an entry; nothing if the file contains only comments besides it. */
function markOf(entry: DraftValue | undefined, text: string) {
  if (entry === undefined || entry.yaml === null) return undefined
  const from = lineOf(entry)
  const to = from + entry.yaml.trimEnd().split('\n').length - 1
  const lines = text.split('\n')
  const others = [...lines.slice(0, from - 1), ...lines.slice(to)]
  return others.every((line) => /^\s*(#|$)/.test(line)) ? undefined : { from, to }
}

/** @param places where waypost.yml includes the file */
function useCompletion(places: readonly string[] | undefined) {
  const schema = useDefinitionSchema()
  const { data: definition } = useQuery(definitionQuery)
  const scopes = useScopes().data
  const { data: provided } = useQuery({
    queryKey: ['class'],
    queryFn: ({ signal }) => call('GET /class', {}, signal),
    staleTime: 60_000,
  })
  return useMemo(() => {
    if (schema === undefined) return undefined
    const all = [...(provided?.connections ?? []), ...(provided?.actions ?? [])]
    const schemas = definition?.schemas.map(({ name }) => name) ?? []
    const rates = definition?.rates.map(({ name }) => name) ?? []
    const names: CompletionNames = {
      request: schemas,
      response: schemas,
      schema: schemas,
      dispatch: definition?.events.map(({ name }) => name) ?? [],
      rate: rates,
      scopes: scopes?.entry.map(({ name }) => name).filter((name) => !name.startsWith('backend.')) ?? [],
      class: all.map(({ name }) => name),
      action: definition?.actions.flatMap(({ kind, name }) => (kind === 'class' ? [] : [name])) ?? [],
    }
    const classes = Object.fromEntries(all.flatMap(({ name, config }) => (isMap(config) ? [[name, config]] : [])))
    return { schema, names, classes, keys: keysOf(places?.[0] ?? '') }
  }, [schema, definition, scopes, provided, places])
}
