import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { TestConnection } from '../components/test-connection.tsx'
import { SelectField } from '../edit/fields.tsx'
import { SchemaForm } from '../edit/schema-form.tsx'
import { isMap } from '../edit/values.ts'
import { EntryEditor, NewEntry, sections } from './entry-editor.tsx'
import { connectionTexts, connectionsTexts } from '../components/connection-texts.ts'

function useConnectionClasses() {
  const { data } = useQuery({ queryKey: ['class'], queryFn: ({ signal }) => call('GET /class', {}, signal) })
  return data?.connections ?? []
}

/** The editor of a connection. Secrets are variables. */
export function ConnectionEditor({ name }: { readonly name: string }) {
  const classes = useConnectionClasses()
  return (
    <EntryEditor section={sections.connection} name={name}>
      {(edit, at) => {
        const value = edit.get()
        const known = classes.find((one) => isMap(value) && one.name === value['class'])
        return (
          <>
            <SelectField
              edit={edit}
              at={`${at}/class`}
              label={connectionTexts.class}
              isRequired
              {...(known === undefined ? {} : { description: known.description })}
              options={classes.map((one) => one.name)}
            />
            {known === undefined ? null : (
              <SchemaForm
                key={known.name}
                edit={edit}
                at={`${at}/config`}
                schema={known.config}
                variables="everywhere"
              />
            )}
            <section className="stack-small">
              <h2>{connectionsTexts.test}</h2>
              {edit.changes > 0 ? <p className="soft">{connectionTexts.saveToTest}</p> : <TestConnection name={name} />}
            </section>
          </>
        )
      }}
    </EntryEditor>
  )
}

/** Adds a connection. */
export function NewConnection({ onClose }: { onClose(): void }) {
  const classes = useConnectionClasses()
  const [chosen, setChosen] = useState('')
  const name = chosen === '' ? classes[0]?.name : chosen
  return (
    <NewEntry section={sections.connection} value={{ class: name }} onClose={onClose}>
      <NativeSelect
        label={connectionTexts.class}
        description={classes.find((one) => one.name === name)?.description}
        data={classes.map((one) => one.name)}
        value={name ?? ''}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
    </NewEntry>
  )
}
