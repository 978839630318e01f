import { Button, NativeSelect, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { Problem } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { LeaveDialog } from '../components/leave-dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { useDraft, type Diagnostic } from '../edit/draft.ts'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import { LastSave } from '../edit/last-save.tsx'
import { Refused, useSaveKey } from '../edit/save-bar.tsx'
import { Additions, Consequences, Preview, Uses, writeProblem, type TablePlan } from './table-plan.tsx'
import { Columns, Keys } from './table-rows.tsx'
import { editingTexts as editing } from '../edit/edit-texts.ts'
import { tableEditorTexts as texts } from './table-texts.ts'
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
  const base = useBase(loaded)
  // What others change meanwhile does not replace what was edited.
  const [edited, setState] = useState<TableState>()
  const state = edited === undefined ? base : withFixed(edited, loaded)
  const [isTried, setTried] = useState(false)
  const [result, setResult] = useState<Result>({})
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
  const errorOf = (pointer: string) => writeError(problems, pointer, isTried)
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
  const known = new Set(['/name', '/key', '/index', '/search', '/unique'])
  const general = problems.filter(({ pointer }) => !known.has(pointer) && !pointer.startsWith('/columns/'))
  const isBlocked = general.length > 0 || problems.some(({ pointer }) => errorOf(pointer) !== undefined)
  const isRecreated = loaded !== undefined && loaded.fixed.length === 0
  const parts = { state, isNew: loaded === undefined || isRecreated, onChange: setState, errorOf }
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
          <NewTableFields
            name={state.name}
            error={errorOf('/name')}
            connection={connection}
            connections={connections}
            onName={(name) => setState({ ...state, name })}
            onConnection={onConnection}
          />
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
      <DesignerBar
        plan={plan}
        result={result}
        general={general}
        hasChanges={hasChanges}
        isNew={loaded === undefined}
        isSaving={isSaving}
        isBlocked={isBlocked}
        onSaveAnyway={() => void save(true)}
        onDiscard={() => {
          setState(undefined)
          setChosen(new Map())
          setResult({})
        }}
      />
      <LeaveDialog hasChanges={hasChanges && !isSaving} />
    </form>
  )
}

/** What is wrong at a pointer. That a name is missing is said after the first try to save. */
function writeError(problems: TablePlan['problems'], pointer: string, isTried: boolean): string | undefined {
  const found = problems.find((one) => one.pointer === pointer)
  const isBlank = pointer.endsWith('/name') && found?.message.startsWith('Enter') === true
  return found === undefined || (isBlank && !isTried)
    ? undefined
    : [found.message, found.hint].filter(Boolean).join('. ')
}

interface NewTableFieldsProps {
  readonly name: string
  readonly error: string | undefined
  readonly connection: string
  readonly connections: readonly string[]
  onName(name: string): void
  readonly onConnection: ((connection: string) => void) | undefined
}

function NewTableFields({ name, error, connection, connections, onName, onConnection }: NewTableFieldsProps) {
  return (
    <div className="two-fields">
      <TextInput
        label={texts.name}
        name="name"
        className="mono-input"
        autoFocus
        placeholder={texts.namePlaceholder}
        value={name}
        error={error}
        onChange={(event) => onName(toName(event.currentTarget.value))}
      />
      <NativeSelect
        label={texts.connection}
        data={[...connections]}
        value={connection}
        onChange={(event) => onConnection?.(event.currentTarget.value)}
      />
    </div>
  )
}

/** What became of saving. */
interface Result {
  readonly error?: unknown
  /** Why the migration could not run. */
  readonly failed?: string | null
}

interface DesignerBarProps {
  readonly plan: TablePlan | undefined
  readonly result: Result
  /** Problems that belong to no field. */
  readonly general: TablePlan['problems']
  readonly hasChanges: boolean
  readonly isNew: boolean
  readonly isSaving: boolean
  readonly isBlocked: boolean
  onSaveAnyway(): void
  onDiscard(): void
}

function DesignerBar(props: DesignerBarProps) {
  const { plan, result, general, hasChanges, isNew, isSaving, isBlocked, onSaveAnyway, onDiscard } = props
  const draft = useDraft()
  const isServed = draft?.is_served === true || draft?.mode === 'server'
  const refused =
    result.error instanceof Problem
      ? (result.error.body['diagnostics'] as readonly Diagnostic[] | undefined)
      : undefined
  return (
    <div className="save-bar" data-active={hasChanges || undefined}>
      {refused === undefined ? null : <Refused diagnostics={refused} />}
      {result.error === undefined || refused !== undefined ? null : <ProblemAlert error={result.error} />}
      {result.failed === undefined || result.failed === null || isServed ? null : (
        <div className="problem" role="alert">
          <p>{texts.failed}</p>
          <p>{result.failed}</p>
        </div>
      )}
      {general.map(({ message, hint }) => (
        <p key={message} className="warnings" role="alert">
          {writeProblem({ message, hint })}
        </p>
      ))}
      {hasChanges ? (
        <div className="save-row">
          <Consequences plan={plan} />
          {isNew ? null : (
            <Button variant="default" onClick={onDiscard}>
              {texts.discard}
            </Button>
          )}
          {refused === undefined ? null : (
            <Button variant="default" loading={isSaving} onClick={onSaveAnyway}>
              {editing.saveAnyway}
            </Button>
          )}
          <Button type="submit" loading={isSaving} disabled={isBlocked} aria-keyshortcuts="Control+S Meta+S">
            {isNew ? texts.create : texts.save}
          </Button>
        </div>
      ) : isNew ? null : (
        <LastSave />
      )}
    </div>
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
function usePlan(body: Omit<Parameters<typeof sendPlan>[0], 'preview'>, isActive: boolean): TablePlan | undefined {
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
): Promise<TablePlan> {
  return call('POST /draft/migration', { body }, signal)
}

function focusInvalid(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}

/** Whether new rows need a value of a column from outside. */
function needsValue({ type, isNull, default: fallback, isRemoved }: Row): boolean {
  return type !== 'id' && !isNull && fallback === '' && !isRemoved
}
