import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { NativeSelect } from '@mantine/core'
import { definitionQuery } from '../api/definition.ts'
import { Users } from '../components/definition-parts.tsx'
import { ClassAction, useActionClasses } from './action-field.tsx'
import { EntryEditor, NewEntry, sections } from './entry-editor.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { actionTexts } from './route-texts.ts'

/** The editor of a named action: its class and the settings that its methods share. */
export function ActionEditor({ name }: { readonly name: string }) {
  const { data } = useQuery(definitionQuery)
  const users = data?.actions.find((one) => one.kind === 'named' && one.name === name)?.used_by ?? []
  return (
    <EntryEditor section={sections.action} name={name}>
      {(edit, at) => (
        <>
          <ClassAction edit={edit} at={at} isForRoute />
          <section>
            <h2>{build.usedBy}</h2>
            <Users uses={users} />
          </section>
        </>
      )}
    </EntryEditor>
  )
}

/** Adds a named action. */
export function NewAction({ onClose }: { onClose(): void }) {
  const classes = useActionClasses(true)
  const [chosen, setChosen] = useState('')
  const name = chosen === '' ? classes[0]?.name : chosen
  return (
    <NewEntry section={sections.action} value={{ class: name }} onClose={onClose}>
      <NativeSelect
        label={actionTexts.class}
        description={classes.find((one) => one.name === name)?.description}
        data={classes.map((one) => one.name)}
        value={name ?? ''}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
    </NewEntry>
  )
}
