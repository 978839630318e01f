import { Input, NativeSelect, SegmentedControl } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { tablesQuery } from '../api/definition.ts'
import { announce } from '../components/announce.tsx'
import { SchemaView } from '../components/schema-view.tsx'
import { parseJson } from '../edit/check-example.ts'
import { ChoiceSelect } from '../edit/choices.tsx'
import { CodeEditor } from '../edit/code-editor.tsx'
import { saveChange } from '../edit/save-change.ts'
import { NameEntry } from '../edit/entry-dialogs.tsx'
import { schemaOfExample, schemaOfTable } from '../edit/make-schema.ts'
import { useNamedSchemas } from '../edit/schema-field.tsx'
import { pointerOf } from '../edit/values.ts'
import { schemaTexts as entry } from '../pages/schema-texts.ts'

const texts = {
  add: 'Add schema',
  from: 'Start from',
  starts: { empty: 'No fields', example: 'An example', table: 'A table' },
  example: 'JSON',
  exampleText: 'The types, formats and required fields are taken from it.',
  notJson: (line: number, message: string) => `Line ${line}: ${message}`,
  table: 'Table',
  noTables: 'No tables are known. Create one on the page Tables.',
  use: 'For',
  uses: { read: 'Rows in responses', write: 'Rows that callers send' },
  preview: 'Fields',
  added: (name: string) => `${name} is added`,
} as const

type Start = keyof typeof texts.starts

interface NewSchemaProps {
  readonly start?: Start
  /** What is done with the new schema; by default its page opens. */
  onAdd?(name: string): void
  onClose(): void
}

/** Adds a named schema: empty, from an example, or from a table. */
export function NewSchema({ start: firstStart = 'empty', onAdd, onClose }: NewSchemaProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const named = useNamedSchemas()
  const [start, setStart] = useState<Start>(firstStart)
  const [schema, setSchema] = useState<unknown>()
  const made = start === 'empty' ? { type: 'object' } : schema
  return (
    <NameEntry
      kind="schema"
      title={entry.new}
      action={texts.add}
      nameText={entry.nameText}
      size={560}
      onSave={async (name) => {
        if (made === undefined) return
        await saveChange(queries, { edits: [{ at: pointerOf('schema', name), value: made, if: null }] })
        announce(texts.added(name))
        onClose()
        if (onAdd !== undefined) onAdd(name)
        else await navigate({ to: '/schemas/$name', params: { name } })
      }}
      onClose={onClose}
    >
      <Input.Wrapper label={texts.from} labelElement="div">
        <div>
          <SegmentedControl
            aria-label={texts.from}
            value={start}
            onChange={(next) => {
              setStart(next as Start)
              setSchema(undefined)
            }}
            data={Object.entries(texts.starts).map(([value, label]) => ({ value, label }))}
          />
        </div>
      </Input.Wrapper>
      {start === 'example' ? <FromExample onChange={setSchema} /> : null}
      {start === 'table' ? <FromTable onChange={setSchema} /> : null}
      {start === 'empty' || schema === undefined ? null : (
        <section>
          <h3>{texts.preview}</h3>
          <SchemaView schema={schema} named={named} label={texts.preview} />
        </section>
      )}
    </NameEntry>
  )
}

interface FromProps {
  onChange(schema: unknown): void
}

/** The schema of an example that is typed or pasted. */
export function FromExample({ onChange }: FromProps) {
  const [text, setText] = useState('')
  const parsed = parseJson(text)
  const problem = 'problem' in parsed && text.trim() !== '' ? parsed.problem : undefined
  return (
    <Input.Wrapper
      label={texts.example}
      labelElement="div"
      description={texts.exampleText}
      error={problem === undefined ? undefined : texts.notJson(problem.line, problem.message)}
    >
      <CodeEditor
        value={text}
        language="json"
        label={texts.example}
        onChange={(next) => {
          setText(next)
          const read = parseJson(next)
          onChange('problem' in read ? undefined : schemaOfExample(read.value))
        }}
      />
    </Input.Wrapper>
  )
}

/** The schema of the rows of a table. */
export function FromTable({ onChange }: FromProps) {
  const { data } = useQuery(tablesQuery)
  const tables = data?.entry ?? []
  const [key, setKey] = useState('')
  const [use, setUse] = useState<'read' | 'write'>('read')
  const keyOf = (table: (typeof tables)[number]) => `${table.connection} ${table.name}`
  const update = (nextKey: string, nextUse: 'read' | 'write') => {
    setKey(nextKey)
    setUse(nextUse)
    const table = tables.find((one) => keyOf(one) === nextKey)
    onChange(table === undefined ? undefined : schemaOfTable(table.columns, nextUse))
  }
  if (data !== undefined && tables.length === 0) return <p className="soft">{texts.noTables}</p>
  return (
    <div className="pair">
      <ChoiceSelect
        label={texts.table}
        value={key}
        choices={tables.map((one) => ({
          value: keyOf(one),
          label: one.connection === 'System' ? one.name : `${one.name} (${one.connection})`,
        }))}
        onChange={(next) => update(next, use)}
      />
      <NativeSelect
        label={texts.use}
        value={use}
        data={Object.entries(texts.uses).map(([value, label]) => ({ value, label }))}
        onChange={({ currentTarget }) => update(key, currentTarget.value === 'write' ? 'write' : 'read')}
      />
    </div>
  )
}
