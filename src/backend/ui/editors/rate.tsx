import { NumberInput, Select, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../components/form-dialog.tsx'
import { useDraftValue } from '../edit/draft.ts'
import { saveChange } from '../edit/save-change.ts'
import { findNameProblem, NameEntry, useEntryNames } from '../edit/entry-dialogs.tsx'
import { describeValue, type FieldProps } from '../edit/fields.tsx'
import { AddingPicker, useNames } from '../edit/pickers.tsx'
import { isMap, pointerOf, type Json } from '../edit/values.ts'
import { settingsTexts } from '../components/setting-texts.ts'
import { editingTexts as editing } from '../edit/edit-texts.ts'
import { entryTexts as entry } from '../edit/entry-texts.ts'
import { pickerTexts as picker } from '../edit/field-texts.ts'
import { ratesTexts as texts } from './rate-texts.ts'

const newRate: Json = { limit: 60, window: '1m' }

interface RateFieldsProps {
  readonly value: Json
  errorOf(name: string): string | undefined
  /** Changes a key; undefined removes it. */
  onChange(key: string, value: unknown): void
}

function RateFields({ value, errorOf, onChange }: RateFieldsProps) {
  const connections = useNames('connection').filter((one) => one !== 'System')
  return (
    <>
      <div className="two-fields">
        <NumberInput
          label={texts.limit}
          name="limit"
          min={1}
          allowDecimal={false}
          error={errorOf('limit')}
          value={Number(value['limit'] ?? '')}
          onChange={(next) => onChange('limit', next)}
        />
        <TextInput
          label={texts.window}
          name="window"
          placeholder={texts.windowText}
          error={errorOf('window')}
          value={describeValue(value['window'] ?? '')}
          onChange={(event) => onChange('window', event.currentTarget.value)}
        />
      </div>
      <Select
        label={texts.by}
        name="by"
        data={[
          { value: 'principal', label: texts.principal },
          { value: 'address', label: texts.address },
        ]}
        value={describeValue(value['by'] ?? 'principal')}
        onChange={(by) => onChange('by', by)}
      />
      <Select
        label={texts.connection}
        description={texts.connectionText}
        name="connection"
        placeholder={settingsTexts.eachServer}
        data={connections}
        comboboxProps={{ keepMounted: false }}
        clearable
        value={typeof value['connection'] === 'string' ? value['connection'] : null}
        onChange={(next) => onChange('connection', next ?? undefined)}
      />
    </>
  )
}

/** A rate without what is empty, and without the default of `by` unless it was written. */
function toRate(stored: Json, typed: Json): Json {
  const entries = Object.entries({ ...stored, ...typed }).filter(([, one]) => one !== undefined && one !== '')
  return Object.fromEntries(
    entries.filter(([key, one]) => key !== 'by' || one !== 'principal' || stored['by'] !== undefined),
  )
}

interface RateDialogProps {
  /** Undefined for a new rate. */
  readonly name: string | undefined
  onClose(): void
}

/** Adds or changes a rate, in a save of its own. */
export function RateDialog({ name, onClose }: RateDialogProps) {
  const queries = useQueryClient()
  const { data } = useDraftValue(pointerOf('rate', name ?? ''))
  const taken = useEntryNames('rate')
  const [newName, setNewName] = useState('')
  const [typed, setTyped] = useState<Json>({})
  const value = toRate(name !== undefined && isMap(data?.value) ? data.value : newRate, typed)
  const nameProblem = findNameProblem('rate', newName, taken)
  const save = async () => {
    if (name === undefined && (newName === '' || nameProblem !== undefined)) return
    const at = pointerOf('rate', name ?? newName)
    await saveChange(queries, { edits: [{ at, value, if: name === undefined ? null : (data?.etag ?? null) }] })
    onClose()
  }
  // Saved before it is loaded, the stored rate would seem to be another one.
  if (name !== undefined && data === undefined) return null
  return (
    <FormDialog
      title={name === undefined ? texts.new : texts.edit(name)}
      action={name === undefined ? texts.add : editing.save}
      onSave={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          {name === undefined ? (
            <TextInput
              label={entry.name}
              description={texts.nameText}
              name="name"
              className="mono-input"
              data-autofocus
              required
              error={nameProblem}
              value={newName}
              onChange={(event) => setNewName(event.currentTarget.value.trim())}
            />
          ) : null}
          <RateFields value={value} errorOf={errorOf} onChange={(key, next) => setTyped({ ...typed, [key]: next })} />
        </>
      )}
    </FormDialog>
  )
}

/** Chooses a rate, and declares a new one in the same save. */
export function RatePicker(field: FieldProps) {
  const { edit, at } = field
  const [typed, setTyped] = useState<Json>({})
  const rate = toRate(newRate, typed)
  return (
    <AddingPicker {...field} kind="rate" button={picker.newRate}>
      {(close) => (
        <NameEntry
          kind="rate"
          title={texts.new}
          action={texts.add}
          nameText={texts.nameText}
          onClose={close}
          onSave={(name) => {
            if (rate['limit'] === undefined || rate['window'] === undefined) return
            edit.set(pointerOf('rate', name), rate)
            edit.set(at, name)
            setTyped({})
            close()
          }}
        >
          <RateFields
            value={rate}
            errorOf={(key) => (rate[key] === undefined && key in newRate ? texts.missing : undefined)}
            onChange={(key, next) => setTyped({ ...typed, [key]: next })}
          />
        </NameEntry>
      )}
    </AddingPicker>
  )
}
