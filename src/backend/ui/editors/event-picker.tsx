import { NameEntry } from '../edit/entry-dialogs.tsx'
import type { FieldProps } from '../edit/fields.tsx'
import { AddingPicker } from '../edit/pickers.tsx'
import { pointerOf } from '../edit/values.ts'
import { pickerTexts } from '../edit/field-texts.ts'
import { eventTexts as texts } from '../pages/event-texts.ts'

interface EventPickerProps extends FieldProps {
  /** The name of the schema of what is dispatched, if it has one. */
  readonly schema: unknown
  /** The scopes of those who may read what is dispatched. */
  readonly scopes: unknown
}

/** Chooses the event that a method dispatches, and adds a new one in the same save. */
export function EventPicker({ schema, scopes, ...field }: EventPickerProps) {
  const { edit, at } = field
  return (
    <AddingPicker {...field} kind="event" button={pickerTexts.newEvent}>
      {(close) => (
        <NameEntry
          kind="event"
          title={texts.new}
          action={texts.add}
          nameText={texts.nameText}
          description={texts.newText}
          onClose={close}
          onSave={(name, description) => {
            edit.set(pointerOf('event', name), {
              ...(description === '' ? {} : { description }),
              ...(typeof schema === 'string' ? { schema } : {}),
              ...(Array.isArray(scopes) && scopes.length > 0 ? { scopes: scopes as readonly unknown[] } : {}),
            })
            edit.set(at, name)
            close()
          }}
        />
      )}
    </AddingPicker>
  )
}
