import { ActionIcon, Button } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { fieldTexts as texts } from './field-texts.ts'
import type { FieldProps } from './fields.tsx'

// The parts of a group of fields: its legend, and what adds and removes members.

export function Legend({ field, children }: { readonly field: FieldProps; readonly children?: ReactNode }) {
  const error = field.edit.errorOf(field.at)
  return (
    <>
      {field.isBare === true ? null : (
        <legend>
          <span dir="auto">{field.label}</span>
          {field.isRequired === true ? (
            <span aria-hidden className="form-required">
              *
            </span>
          ) : null}
          {children}
        </legend>
      )}
      {field.description === undefined ? null : <p className="soft form-text">{field.description}</p>}
      {error === undefined ? null : <p className="picker-error">{error}</p>}
    </>
  )
}

export function RemoveButton({ label, onClick }: { readonly label: string; onClick(): void }) {
  return (
    <ActionIcon size={24} aria-label={texts.remove(label)} onClick={onClick}>
      <X size={14} aria-hidden />
    </ActionIcon>
  )
}

export function AddButton({ label, onClick }: { readonly label: string; onClick(): void }) {
  return (
    <Button
      variant="default"
      className="align-start"
      leftSection={<Plus size={14} aria-hidden />}
      aria-label={texts.addTo(label)}
      onClick={onClick}
    >
      {texts.add}
    </Button>
  )
}

interface NewKeyProps {
  readonly label: string
  readonly options: readonly string[]
  readonly value: string
  onChange(value: string): void
  onAdd(key: string): void
}

/** Adds a key to a map. */
export function NewKey({ label, options, value, onChange, onAdd }: NewKeyProps) {
  const list = `keys-${label}`
  return (
    <div className="form-item">
      <div className="mantine-TextInput-root grow">
        <input
          className="plain-input mono"
          aria-label={`${texts.key}: ${label}`}
          placeholder={texts.key}
          list={list}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing || value === '') return
            event.preventDefault()
            onAdd(value)
          }}
        />
        <datalist id={list}>
          {options.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </div>
      <Button variant="default" disabled={value === ''} aria-label={texts.addTo(label)} onClick={() => onAdd(value)}>
        {texts.add}
      </Button>
    </div>
  )
}
