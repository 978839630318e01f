import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { DraftEdit } from './draft-edit.ts'
import { useChoices } from './choices.tsx'
import { isEqual } from './values.ts'
import { fieldTexts as texts } from './field-texts.ts'

/** What every field of an edit takes. */
export interface FieldProps {
  readonly edit: DraftEdit
  /** The JSON pointer of the value. */
  readonly at: string
  readonly label: string
  readonly description?: ReactNode
  readonly isRequired?: boolean
  /** What holds if the value is not set; shown as a placeholder. */
  readonly fallback?: unknown
  /** Whether the label is only for screen readers, because the same is above it. */
  readonly isBare?: boolean
}

/** What the inputs of Mantine take from the properties of a field. The save bar finds them by `data-at`. */
export function inputProps({ edit, at, label, description, isRequired = false, fallback, isBare }: FieldProps) {
  const error = edit.errorOf(at)
  return {
    ...(isBare === true ? { 'aria-label': label } : { label, withAsterisk: isRequired }),
    'data-at': at,
    'aria-required': isRequired || undefined,
    ...(description === undefined ? {} : { description }),
    ...(error === undefined ? {} : { error }),
    ...(fallback === undefined ? {} : { placeholder: describeValue(fallback) }),
  }
}

export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ')
  return JSON.stringify(value) ?? ''
}

interface TextFieldProps extends FieldProps {
  /** For ids, code and patterns. */
  readonly isMono?: boolean
  readonly isLong?: boolean
  readonly rightSection?: ReactNode
}

/** A text; an empty one removes the key. */
export function TextField({ isMono = false, isLong = false, rightSection, ...field }: TextFieldProps) {
  const { edit, at } = field
  const value = edit.get(at)
  const props = {
    ...inputProps(field),
    dir: 'auto' as const,
    value: value === undefined || value === null ? '' : describeValue(value),
    className: isMono ? 'mono-input' : '',
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      edit.set(at, event.currentTarget.value === '' ? undefined : event.currentTarget.value),
  }
  if (isLong) return <Textarea {...props} autosize minRows={2} maxRows={8} />
  return <TextInput {...props} rightSection={rightSection} />
}

interface NumberFieldProps extends FieldProps {
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
}

export function NumberField({ minimum, maximum, ...field }: NumberFieldProps) {
  const { edit, at } = field
  const value = edit.get(at)
  return (
    <NumberInput
      {...inputProps(field)}
      value={typeof value === 'number' || typeof value === 'string' ? value : ''}
      {...(minimum === undefined ? {} : { min: minimum })}
      {...(maximum === undefined ? {} : { max: maximum })}
      clampBehavior="none"
      onChange={(next) => edit.set(at, next === '' ? undefined : next)}
    />
  )
}

/** Yes or no. The fallback is what holds if the key is absent; it is written only if it was written before. */
export function SwitchField({ fallback = false, ...field }: FieldProps) {
  const { edit, at } = field
  const isOn = (edit.get(at) ?? fallback) === true
  const { placeholder: _placeholder, ...props } = inputProps({ ...field, isRequired: false })
  return (
    <Switch
      {...props}
      checked={isOn}
      onChange={() => edit.set(at, !isOn === fallback && edit.before(at) === undefined ? undefined : !isOn)}
    />
  )
}

interface SelectFieldProps extends FieldProps {
  readonly options: readonly (string | { readonly value: string; readonly label: string })[]
  /** Whether other texts are kept as they are, as unknown. */
  readonly isOpen?: boolean
  readonly isMono?: boolean
}

/** One of several texts. A text that is none of them stays, and says that it is unknown. */
export function SelectField({ options, isMono = false, ...field }: SelectFieldProps) {
  const { edit, at, isRequired } = field
  const value = edit.get(at)
  const current = value === undefined || value === null ? null : describeValue(value)
  const known = options.find((one) => (typeof one === 'string' ? one : one.value) === current)
  const chosen = current === null ? [] : [known ?? { value: current, label: texts.unknown(current) }]
  const choices = useChoices(() => (known === undefined ? [...options, ...chosen] : options), chosen)
  return (
    <Select
      placeholder={texts.unset}
      {...inputProps(field)}
      {...choices}
      value={current}
      searchable={options.length > 6}
      clearable={isRequired !== true}
      nothingFoundMessage={texts.noOptions}
      className={isMono ? 'mono-input' : ''}
      onChange={(next) => edit.set(at, next ?? undefined)}
    />
  )
}

interface ListFieldProps extends FieldProps {
  /** Texts to choose from; others can be typed. */
  readonly options?: readonly string[]
}

/** A list of texts; without any, the key is removed unless it is required. */
export function ListField({ options = [], ...field }: ListFieldProps) {
  const { edit, at } = field
  const choices = useChoices(() => options)
  if (typeof edit.get(at) === 'string') return <TextField {...field} />
  const { list, change } = listOf(field)
  return (
    <TagsInput
      {...inputProps(field)}
      {...(list.length > 0 ? { placeholder: '' } : {})}
      {...choices}
      value={[...list]}
      onChange={change}
    />
  )
}

/** The items of a list, and how they change. An edit of a list that is not set begins with the fallback. */
export function listOf({ edit, at, isRequired = false, fallback }: FieldProps) {
  const value = edit.get(at)
  const byDefault = Array.isArray(fallback) ? fallback.map(describeValue) : []
  return {
    list: Array.isArray(value) ? value.map(describeValue) : byDefault,
    change(next: readonly string[]) {
      const isDefault = isEqual(next, byDefault) && edit.before(at) === undefined && !isRequired
      edit.set(at, isDefault || (next.length === 0 && byDefault.length === 0 && !isRequired) ? undefined : next)
    },
  }
}

/** A text, number, boolean or null. Input that parses as JSON becomes that JSON value. */
export function LooseText({
  edit,
  at,
  label,
}: {
  readonly edit: DraftEdit
  readonly at: string
  readonly label: string
}) {
  const value = edit.get(at)
  const [text, setText] = useState(() => describeValue(value))
  const isSame = isEqual(parseLoose(text), value)
  return (
    <TextField
      edit={{
        ...edit,
        get: () => (isSame ? text : value),
        set(_at, next) {
          setText(describeValue(next ?? ''))
          edit.set(at, parseLoose(describeValue(next ?? '')))
        },
      }}
      at={at}
      label={label}
      isMono
    />
  )
}

function parseLoose(text: string): unknown {
  if (/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text)) return JSON.parse(text)
  return text
}

/** A value as JSON. Text that is not valid JSON stays in the field until it is corrected. */
export function JsonField(field: FieldProps) {
  const { edit, at, label, description } = field
  const value = edit.get(at)
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>()
  const text = typed !== undefined && isEqual(typed.value, value) ? typed.text : write(value)
  const error = edit.errorOf(at) ?? (isJson(text) ? undefined : texts.notJson)
  return (
    <Textarea
      label={label}
      description={description}
      data-at={at}
      className="mono-input"
      autosize
      minRows={2}
      maxRows={16}
      spellCheck={false}
      error={error}
      value={text}
      onChange={(event) => {
        const next = event.currentTarget.value
        const isValid = isJson(next)
        const parsed: unknown = next.trim() === '' ? undefined : isValid ? JSON.parse(next) : value
        setTyped({ text: next, value: parsed })
        if (isValid) edit.set(at, parsed)
      }}
    />
  )
}

function write(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

function isJson(text: string): boolean {
  try {
    if (text.trim() !== '') JSON.parse(text)
    return true
  } catch {
    return false
  }
}
