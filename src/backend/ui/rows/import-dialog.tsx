import { Button, Checkbox, FileInput, Group, NativeSelect, Progress } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import type { Description, TablePlace } from './row-values.ts'
import { importTexts as texts } from './row-texts.ts'
import type { ImportProblem } from './transfer.ts'
import { useImport, type ImportState } from './use-import.ts'

interface ImportDialogProps {
  readonly place: TablePlace
  readonly description: Description
  onImported(): void
  onClose(): void
}

/** Imports a CSV file: all rows or none, with what is wrong in which line. */
export function ImportDialog({ place, description, onImported, onClose }: ImportDialogProps) {
  const [file, setFile] = useState<File | null>(null)
  const [upsert, setUpsert] = useState('')
  const [skipsUnknown, setSkips] = useState(false)
  const { state, start } = useImport(place, onImported)
  const keys = description.unique.filter((columns) => columns.every((name) => isWritable(description, name)))
  const isRunning = state.step === 'running'
  return (
    <Dialog title={texts.title(place.table)} size={560} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (file !== null && !isRunning)
            void start({ file, upsert: upsert === '' ? [] : (keys[Number(upsert)] ?? []), skipsUnknown })
        }}
      >
        <FileInput
          label={texts.file}
          description={texts.hint}
          placeholder={texts.choose}
          accept=".csv,.tsv,.txt,text/csv"
          value={file}
          disabled={isRunning}
          onChange={setFile}
        />
        {keys.length === 0 ? null : (
          <NativeSelect
            label={texts.existing}
            value={upsert}
            disabled={isRunning}
            data={[
              { value: '', label: texts.addOnly },
              ...keys.map((columns, index) => ({ value: String(index), label: texts.change(columns) })),
            ]}
            onChange={(event) => setUpsert(event.currentTarget.value)}
          />
        )}
        <Checkbox
          label={texts.skip}
          checked={skipsUnknown}
          disabled={isRunning}
          onChange={(event) => setSkips(event.currentTarget.checked)}
        />
        <ImportStatus state={state} />
        <Group justify="flex-end" gap="xs" className="form-actions">
          <Button variant="default" onClick={onClose}>
            {texts.close}
          </Button>
          {state.step === 'done' ? null : (
            <Button type="submit" disabled={file === null} loading={isRunning}>
              {state.step === 'failed' ? texts.again : texts.start}
            </Button>
          )}
        </Group>
      </form>
    </Dialog>
  )
}

function isWritable({ columns, internal }: Description, name: string): boolean {
  return name !== internal && columns.some((one) => one.name === name && !one.fixed)
}

/** How far the import is, or how it ended. */
function ImportStatus({ state }: { readonly state: ImportState }) {
  if (state.step === 'none') return null
  if (state.step === 'done') return <p role="status">{texts.done(state.rows)}</p>
  if (state.step === 'running')
    return (
      <div className="stack-small">
        <p role="status">{state.text}</p>
        <Progress value={state.percent} animated={state.percent === 100} aria-label={texts.title('')} />
      </div>
    )
  return (
    <div className="stack">
      {state.error === undefined ? (
        <p role="alert" className="warnings">
          {state.problems.length === 0 ? texts.nothing : texts.problems(state.problems.length)}
        </p>
      ) : (
        <ProblemAlert error={state.error} />
      )}
      {state.problems.length === 0 ? null : <Problems problems={state.problems} />}
    </div>
  )
}

function Problems({ problems }: { readonly problems: readonly ImportProblem[] }) {
  return (
    <div className="import-problems" tabIndex={0} role="region" aria-label={texts.reason}>
      <PlainTable<ImportProblem>
        label={texts.reason}
        rows={problems}
        rowKey={({ line, column, message }) => `${line} ${column ?? ''} ${message}`}
        columns={[
          { name: 'line', label: texts.line, render: ({ line }) => line.toLocaleString('en') },
          {
            name: 'column',
            label: texts.column,
            render: ({ column }) =>
              column === null ? <span className="soft">{texts.whole}</span> : <bdi translate="no">{column}</bdi>,
          },
          { name: 'message', label: texts.reason, render: ({ message }) => <span dir="auto">{message}</span> },
        ]}
      />
    </div>
  )
}
