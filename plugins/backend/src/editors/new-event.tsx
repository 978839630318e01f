import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { saveChange } from '../edit/draft.ts'
import { useNames } from '../edit/pickers.tsx'
import { pointerOf } from '../edit/values.ts'
import { editing } from '../strings/editing.ts'

const { events: texts } = editing
const namePattern = /^(?!waypost\.)[A-Za-z0-9][A-Za-z0-9._:/-]*$/

/** Says why an event cannot have a name. */
export function problemOfEvent(name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return texts.nameTaken
  return name === '' || namePattern.test(name) ? undefined : texts.nameInvalid
}

/** Adds an event and opens its editor. */
export function NewEvent({ onClose }: { onClose(): void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const taken = useNames('event')
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const problem = problemOfEvent(name, taken)
  return (
    <Dialog title={texts.new} onClose={onClose}>
      <SaveForm
        action={texts.add}
        onCancel={onClose}
        onSave={async () => {
          if (name === '' || problem !== undefined) return
          const value = description === '' ? {} : { description }
          await saveChange(queries, { edits: [{ at: pointerOf('event', name), value, if: null }] })
          await navigate({ to: '/events/$name', params: { name } })
        }}
      >
        {() => (
          <>
            <TextInput
              label={texts.name}
              description={texts.nameText}
              name="name"
              className="mono-input"
              data-autofocus
              required
              error={problem}
              value={name}
              onChange={(event) => setName(event.currentTarget.value.trim())}
            />
            <TextInput
              label={texts.description}
              name="description"
              dir="auto"
              value={description}
              onChange={(event) => setDescription(event.currentTarget.value)}
            />
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}
