import { Button, Checkbox, NativeSelect, Tabs, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { call, type Answer } from '../api/call.ts'
import { Problem } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { CodeBlock } from '../components/copy.tsx'
import { LeaveDialog } from '../components/leave-dialog.tsx'
import { endSentence, ProblemAlert } from '../components/problem.tsx'
import { lastSave, refreshDraft, useDraft, useServerDraft, type Diagnostic } from '../edit/draft.ts'
import { UseList } from '../edit/entry-dialogs.tsx'
import { LastSave } from '../edit/last-save.tsx'
import { Refused, useSaveKey } from '../edit/save-bar.tsx'
import { editing } from '../strings/editing.ts'
import { tableEditor as texts } from '../strings/table-editor.ts'
import { Columns, Keys } from './table-rows.tsx'
import {
  listColumnChanges,
  newTable,
  toDesign,
  toName,
  toState,
  type LoadedTable,
  type ReferencedTable,
  type Row,
  type TableState,
} from './table-state.ts'

type Plan = Answer<'POST /draft/migration'>

interface TableDesignerProps {
  readonly connection: string
  readonly connections: readonly string[]
  /** Undefined for a new table. */
  readonly loaded?: LoadedTable
  /** The tables that columns can reference. */
  readonly tables: readonly ReferencedTable[]
  onConnection?(connection: string): void
  onSaved(name: string): void
  /** Below the columns and keys. */
  readonly children: ReactNode
}

/** Edits a table. Says what will be written and run, and writes it as one migration. */
export function TableDesigner(props: TableDesignerProps) {
  const { connection, connections, loaded, tables, onConnection, onSaved, children } = props
  const queries = useQueryClient()
  const draft = useDraft()
  const isServed = draft?.is_served === true || draft?.mode === 'server'
  const base = useBase(loaded)
  // What others change meanwhile does not replace what was edited.
  const [edited, setState] = useState<TableState>()
  const state = edited === undefined ? base : withFixed(edited, loaded)
  const [isTried, setTried] = useState(false)
  const [result, setResult] = useState<{ readonly error?: unknown; readonly failed?: string | null }>({})
  const [isSaving, setSaving] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const table = loaded?.design.name ?? null
  const design = toDesign(withoutBlank(state))
  const hasChanges = JSON.stringify(toDesign(state)) !== JSON.stringify(toDesign(base))
  /** The new columns of which someone has said whether the API gets them, by row. */
  const [chosen, setChosen] = useState<ReadonlyMap<number, boolean>>(new Map())
  // Without a column that needs a value, no row could be created.
  const addToApi = state.rows
    .filter((row) => row.name !== '' && (chosen.get(row.id) ?? needsValue(row)))
    .map(({ name }) => name)
  const request = { connection, table, design, add_to_api: addToApi }
  const plan = usePlan(request, hasChanges)
  const problems = plan?.problems ?? []
  const errorOf = (pointer: string) => {
    const found = problems.find((one) => one.pointer === pointer)
    const isBlank = pointer.endsWith('/name') && found?.message.startsWith('Enter') === true
    return found === undefined || (isBlank && !isTried)
      ? undefined
      : [found.message, found.hint].filter(Boolean).join('. ')
  }
  const save = async (withErrors = false) => {
    setTried(true)
    setSaving(true)
    try {
      const body = { ...request, preview: false, with_errors: withErrors }
      const saved = await call('POST /draft/migration', { body })
      setResult({ failed: saved.failed })
      if (saved.saved === null) return focusInvalid(form.current)
      const changed = { name: design.name, fields: listColumnChanges(loaded && toDesign(base), design) }
      lastSave.set(
        saved.saved,
        { entries: [changed], pages: [['tables', `${connection}.${design.name}`]] },
        saved.can_undo,
      )
      await refreshDraft(queries)
      setState((now) => (now === edited ? undefined : now && rebase(now, state)))
      setTried(false)
      setChosen(new Map())
      if (saved.failed !== null && draft?.mode !== 'server') return
      announce(table === null ? texts.created(design.name) : texts.saved(design.name))
      onSaved(design.name)
    } catch (error) {
      setResult({ error })
    } finally {
      setSaving(false)
    }
  }
  useSaveKey(() => form.current?.requestSubmit())
  const known = new Set(['/name', '/key', '/index', '/unique'])
  const general = problems.filter(({ pointer }) => !known.has(pointer) && !pointer.startsWith('/columns/'))
  const isBlocked = general.length > 0 || problems.some(({ pointer }) => errorOf(pointer) !== undefined)
  const isRecreated = loaded !== undefined && loaded.fixed.length === 0
  const parts = { state, isNew: loaded === undefined || isRecreated, onChange: setState, errorOf }
  const refused =
    result.error instanceof Problem
      ? (result.error.body['diagnostics'] as readonly Diagnostic[] | undefined)
      : undefined
  return (
    <form
      ref={form}
      noValidate
      className="table-designer"
      onSubmit={(event) => {
        event.preventDefault()
        if (hasChanges && !isSaving) void save()
      }}
      onKeyDown={(event) => {
        // Enter in a field would save a table that is not finished.
        if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault()
      }}
    >
      <div className="stack-wide">
        {loaded === undefined ? (
          <div className="two-fields">
            <TextInput
              label={texts.name}
              name="name"
              className="mono-input"
              autoFocus
              placeholder={texts.namePlaceholder}
              value={state.name}
              error={errorOf('/name')}
              onChange={(event) => setState({ ...state, name: toName(event.currentTarget.value) })}
            />
            <NativeSelect
              label={texts.connection}
              data={[...connections]}
              value={connection}
              onChange={(event) => onConnection?.(event.currentTarget.value)}
            />
          </div>
        ) : null}
        <Columns {...parts} tables={tables} />
        <Uses uses={plan?.uses ?? []} />
        <Additions
          rows={state.rows}
          additions={plan?.additions ?? []}
          isChosen={({ name }) => addToApi.includes(name)}
          onChoose={({ id }, isOn) => {
            setChosen(new Map([...chosen, [id, isOn]]))
            setResult({}) // an error that it caused is about the choice before
          }}
        />
        <Keys {...parts} />
        {children}
      </div>
      <Preview plan={plan} />
      <div className="save-bar" data-active={hasChanges || undefined}>
        {refused === undefined ? null : <Refused diagnostics={refused} />}
        {result.error === undefined || refused !== undefined ? null : <ProblemAlert error={result.error} />}
        {result.failed === undefined || result.failed === null || isServed ? null : (
          <div className="problem" role="alert">
            <p>{texts.failed}</p>
            <p>{result.failed}</p>
          </div>
        )}
        {isTried || general.length > 0
          ? general.map(({ message, hint }) => (
              <p key={message} className="warnings" role="alert">
                {writeProblem({ message, hint })}
              </p>
            ))
          : null}
        {hasChanges ? (
          <div className="save-row">
            <Consequences plan={plan} />
            {loaded === undefined ? null : (
              <Button
                variant="default"
                onClick={() => {
                  setState(undefined)
                  setChosen(new Map())
                  setResult({})
                }}
              >
                {texts.discard}
              </Button>
            )}
            {refused === undefined ? null : (
              <Button variant="default" loading={isSaving} onClick={() => void save(true)}>
                {editing.saveAnyway}
              </Button>
            )}
            <Button type="submit" loading={isSaving} disabled={isBlocked} aria-keyshortcuts="Control+S Meta+S">
              {loaded === undefined ? texts.create : texts.save}
            </Button>
          </div>
        ) : loaded === undefined ? null : (
          <LastSave />
        )}
      </div>
      <LeaveDialog hasChanges={hasChanges && !isSaving} />
    </form>
  )
}

/** The table as loaded. It is another object only if the table is another one. */
function useBase(loaded: LoadedTable | undefined): TableState {
  const text = JSON.stringify(loaded)
  return useMemo(() => (text === undefined ? newTable() : toState(JSON.parse(text) as LoadedTable)), [text])
}

/** What was typed while a state was saved: its columns have the names of that state now. */
function rebase(now: TableState, { rows: saved }: TableState): TableState {
  const kept = now.rows.filter(({ id }) => !saved.some((row) => row.id === id && row.isRemoved))
  const rows = kept.map((row) => ({ ...row, was: saved.find(({ id }) => id === row.id)?.name ?? row.was }))
  return { ...now, rows }
}

/** A row that was inserted meanwhile fixes the columns. */
function withFixed(state: TableState, loaded: LoadedTable | undefined): TableState {
  const isFixed = ({ was }: Row) => was !== undefined && loaded?.fixed.includes(was) === true
  return { ...state, rows: state.rows.map((row) => ({ ...row, isFixed: isFixed(row) })) }
}

/** The last line is empty until it is filled in. */
function withoutBlank(state: TableState): TableState {
  const [last] = state.rows.slice(-1)
  const isBlank = last !== undefined && last.name === '' && last.was === undefined && state.rows.length > 1
  return isBlank ? { ...state, rows: state.rows.slice(0, -1) } : state
}

const previewMs = 250

/** What saving would do, a moment after the last change. */
function usePlan(body: Omit<Parameters<typeof sendPlan>[0], 'preview'>, isActive: boolean): Plan | undefined {
  const text = JSON.stringify(body)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), previewMs)
    return () => clearTimeout(timer)
  }, [text])
  const { data } = useQuery({
    queryKey: ['draft', 'migration', settled],
    queryFn: ({ signal }) => sendPlan({ ...(JSON.parse(settled) as typeof body), preview: true }, signal),
    enabled: isActive,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  return isActive ? data : undefined
}

function sendPlan(
  body: Parameters<typeof call<'POST /draft/migration'>>[1]['body'],
  signal?: AbortSignal,
): Promise<Plan> {
  return call('POST /draft/migration', { body }, signal)
}

function focusInvalid(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}

/** A problem as sentences. */
export function writeProblem({ message, hint }: Pick<Plan['problems'][number], 'message' | 'hint'>): string {
  return [message, hint].flatMap((part) => (part === null ? [] : endSentence(part))).join(' ')
}

/** What happens on Save. */
export function Consequences({ plan }: { readonly plan: Plan | undefined }) {
  const isServer = useServerDraft() !== undefined
  if (plan?.change === undefined || plan.change === null) return <p className="save-state">{texts.unsaved}</p>
  const { file, before, text } = plan.change
  const updated = plan.files.map((one) => one.file)
  const say = isServer ? { deletes: texts.deletesStaged, writes: texts.stages, amends: texts.amendsStaged } : texts
  const what = text === null ? say.deletes(file) : before === null ? say.writes(file) : say.amends(file)
  return (
    <div className="save-state consequences">
      <p>
        {what} {updated.length === 0 ? null : texts.updates(updated)}
      </p>
      {plan.losses.length === 0 ? null : (
        <p className="bad">
          {texts.losses} {plan.losses.join(', ')}
        </p>
      )}
      {plan.breaking.map((one) => (
        <p key={one} className="warn">
          {texts.breaking(one)}
        </p>
      ))}
    </div>
  )
}

/** What names the columns that are renamed or dropped, before anything is saved. */
export function Uses({ uses }: { readonly uses: Plan['uses'] }) {
  if (uses.length === 0) return null
  const groups = [
    { title: texts.changed, list: uses.filter(({ to, problem }) => to !== null && problem === null) },
    { title: texts.unchanged, list: uses.filter(({ to, problem }) => to !== null && problem !== null) },
    {
      title: texts.removedWith,
      list: uses.filter((one) => one.to === null && one.problem === null && !one.is_blocking),
    },
    { title: texts.blocking, list: uses.filter((one) => one.to === null && one.is_blocking) },
    { title: texts.mentions, list: uses.filter((one) => one.to === null && one.problem !== null && !one.is_blocking) },
  ]
  return (
    <section className="stack-small table-uses" aria-label={texts.uses}>
      {groups.map(({ title, list }) =>
        list.length === 0 ? null : (
          <div key={title(1)}>
            <h2>{title(list.length)}</h2>
            <UseList
              uses={list.map(({ column, to, at, source, problem }) => ({
                at,
                source,
                note: (
                  <>
                    <bdi className="mono">{to === null || problem !== null ? column : `${column} → ${to}`}</bdi>
                    {problem === null ? null : <span className="soft"> {problem}</span>}
                  </>
                ),
              }))}
            />
          </div>
        ),
      )}
    </section>
  )
}

/** Whether new rows need a value of a column from outside. */
function needsValue({ type, isNull, default: fallback, isRemoved }: Row): boolean {
  return type !== 'id' && !isNull && fallback === '' && !isRemoved
}

interface AdditionsProps {
  readonly rows: readonly Row[]
  readonly additions: Plan['additions']
  isChosen(row: Row): boolean
  onChoose(row: Row, isOn: boolean): void
}

/** Offers to add new columns to the actions, schemas and events of the table, in the same save. */
function Additions({ rows, additions, isChosen, onChoose }: AdditionsProps) {
  if (additions.length === 0) return null
  const byColumn = Map.groupBy(additions, ({ column }) => column)
  return (
    <section className="stack-small table-uses" aria-label={texts.additions.title}>
      <h2>{texts.additions.title}</h2>
      {rows.map((row) => {
        const places = row.isRemoved ? [] : (byColumn.get(row.name) ?? [])
        if (places.length === 0) return null
        const isRequired = places.some((one) => one.is_required)
        const isOn = isChosen(row)
        const others = places.filter(({ problem }) => problem !== null)
        return (
          <div key={row.id} className="stack-small">
            <Checkbox
              label={texts.additions.add(row.name)}
              description={isRequired ? texts.additions.required : texts.additions.optional}
              checked={isOn}
              onChange={(event) => onChoose(row, event.currentTarget.checked)}
            />
            {isOn ? <UseList uses={places.filter(({ problem }) => problem === null)} /> : null}
            {isOn && others.length > 0 ? (
              <>
                <p className="soft">{texts.unchanged(others.length)}</p>
                <UseList uses={others.map((one) => ({ ...one, note: <span className="soft"> {one.problem}</span> }))} />
              </>
            ) : null}
            {isOn || !isRequired ? null : <p className="warn">{texts.additions.fails(row.name)}</p>}
          </div>
        )
      })}
    </section>
  )
}

function Preview({ plan }: { readonly plan: Plan | undefined }) {
  const sqlOf = (kind: 'sqlite' | 'postgresql') =>
    plan === undefined ? '' : plan.sql[kind].map((one) => `${one};`).join('\n\n')
  const codes = [
    { name: 'yaml', label: texts.yaml, code: plan?.change?.text ?? '' },
    { name: 'sqlite', label: texts.databases.sqlite, code: sqlOf('sqlite') },
    { name: 'postgresql', label: texts.databases.postgresql, code: sqlOf('postgresql') },
  ]
  return (
    <aside className="table-preview" aria-label={texts.preview}>
      <Tabs defaultValue="yaml">
        <Tabs.List>
          {codes.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {codes.map(({ name, label, code }) => (
          <Tabs.Panel key={name} value={name}>
            {code === '' ? <p className="soft">{texts.noPreview}</p> : <CodeBlock code={code} label={label} />}
          </Tabs.Panel>
        ))}
      </Tabs>
    </aside>
  )
}
