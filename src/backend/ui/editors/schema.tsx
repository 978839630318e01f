import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { definitionQuery } from '../api/definition.ts'
import { Users } from '../components/definition-parts.tsx'
import { ExampleCheck } from '../edit/example-check.tsx'
import { SaveBar } from '../edit/save-bar.tsx'
import { SchemaField, useNamedSchemas } from '../edit/schema-field.tsx'
import { isMap } from '../edit/values.ts'
import { EntryEditor, sections } from './entry-editor.tsx'

const texts = {
  unused: 'No method, event or schema uses it.',
  self: 'A schema that refers to itself.',
} as const

const tabs = {
  fields: 'Fields',
  example: 'Example',
  uses: 'Used by',
} as const

/** The editor of a named schema: its fields, an example, its YAML, and what uses it. */
export function SchemaPage({ name }: { readonly name: string }) {
  const [example, setExample] = useState<string>()
  const named = useNamedSchemas()
  const { data } = useQuery(definitionQuery)
  const uses = data?.schemas.find((one) => one.name === name)?.used_by ?? []
  return (
    <EntryEditor
      section={sections.schema}
      name={name}
      label={tabs.fields}
      more={(edit, at) => {
        const schema = edit.get(at)
        const check = (
          <div className="stack-wide">
            <ExampleCheck
              schema={schema}
              named={{ ...named, [name]: schema }}
              label={name}
              text={example}
              onChange={setExample}
              {...(isMap(schema) ? { onKeep: (examples) => edit.set(`${at}/examples`, examples) } : {})}
            />
            <SaveBar edit={edit} />
          </div>
        )
        const users = (
          <section>{uses.length === 0 ? <p className="soft">{texts.unused}</p> : <Users uses={uses} />}</section>
        )
        return [
          { name: 'example', label: tabs.example, content: check },
          { name: 'uses', label: tabs.uses, content: users },
        ]
      }}
      isWide
    >
      {(edit, at) => <SchemaField edit={edit} at={at} label={name} />}
    </EntryEditor>
  )
}
