import { useQuery } from '@tanstack/react-query'
import { definitionQuery } from '../api/definition.ts'
import { Users } from '../components/definition-parts.tsx'
import { Listen } from '../components/listen.tsx'
import { SubscribeLink } from '../components/subscription.tsx'
import { config } from '../config.ts'
import { saveChange } from '../edit/save-change.ts'
import { JsonField, TextField } from '../edit/fields.tsx'
import { SchemaPicker, ScopesPicker } from '../edit/pickers.tsx'
import { pointerOf } from '../edit/values.ts'
import { EntryEditor, NewEntry, sections } from './entry-editor.tsx'
import { entryTexts } from '../edit/entry-texts.ts'
import { fieldTexts } from '../edit/field-texts.ts'
import { eventTexts as texts, eventsTexts } from '../pages/event-texts.ts'

/** The editor of an event. */
export function EventEditor({ name }: { readonly name: string }) {
  const { data } = useQuery(definitionQuery)
  const { dispatched_by: users = [], private: isPrivate = false } = data?.events.find((one) => one.name === name) ?? {}
  return (
    <EntryEditor section={sections.event} name={name}>
      {(edit, at) => (
        <>
          <TextField edit={edit} at={`${at}/description`} label={entryTexts.description} isLong />
          <SchemaPicker
            edit={edit}
            at={`${at}/schema`}
            label={texts.schema}
            description={texts.schemaText}
            fallback={texts.anyData}
          >
            <JsonField edit={edit} at={`${at}/schema`} label={fieldTexts.json} />
          </SchemaPicker>
          {isPrivate ? (
            <p>{texts.privateText}</p>
          ) : (
            <ScopesPicker edit={edit} at={`${at}/scopes`} label={texts.scopes} description={texts.scopesText} />
          )}
          <section>
            <h2>{texts.dispatchedBy}</h2>
            {users.length === 0 ? <p className="soft">{eventsTexts.code}</p> : <Users uses={users} />}
          </section>
          {isPrivate ? null : <SubscribeLink event={name} />}
          {config.isDevelopment && !isPrivate ? <Listen event={name} /> : null}
        </>
      )}
    </EntryEditor>
  )
}

/** Adds an event and opens its editor. */
export function NewEvent({ onClose }: { onClose(): void }) {
  return (
    <NewEntry
      section={sections.event}
      description
      add={(name, queries, description) => {
        const value = description === '' ? {} : { description }
        return saveChange(queries, { edits: [{ at: pointerOf('event', name), value, if: null }] })
      }}
      onClose={onClose}
    />
  )
}
