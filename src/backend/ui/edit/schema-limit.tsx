import { Checkbox, NativeSelect, NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Kind } from './schema-rows.ts'
import { schemaEditorTexts } from './schema-texts.ts'

const keywordsTexts = {
  format: 'Format',
  minLength: 'Minimum length',
  maxLength: 'Maximum length',
  pattern: 'Pattern',
  enum: 'Allowed values',
  const: 'Value',
  minimum: 'Minimum',
  maximum: 'Maximum',
  exclusiveMinimum: 'More than',
  exclusiveMaximum: 'Less than',
  multipleOf: 'Multiple of',
  minItems: 'Minimum items',
  maxItems: 'Maximum items',
  uniqueItems: 'Unique items',
  minProperties: 'Minimum fields',
  maxProperties: 'Maximum fields',
  additionalProperties: 'Other fields',
  types: 'Media types',
  maxSize: 'Maximum size',
  default: 'Default',
  deprecated: 'Deprecated',
  readOnly: 'Read-only',
  writeOnly: 'Write-only',
} as Readonly<Record<string, string>>

const flagTexts = {
  unset: 'Not set',
  true: 'true',
  false: 'false',
} as const

const otherFieldsTexts = {
  allowed: 'Allowed',
  refused: 'Not allowed',
  typed: 'Of one type',
} as const

/** The formats that are offered as types. */
export const formats = ['date-time', 'date', 'time', 'duration', 'email', 'uri', 'uuid', 'ipv4', 'ipv6'] as const

/** All formats that Waypost checks, except those of numbers. */
const allFormats = [
  ...formats, 'hostname', 'url', 'uri-reference', 'uri-template', 'regex', 'json-pointer', 'relative-json-pointer',
  'json-pointer-uri-fragment', 'iso-time', 'iso-date-time', 'byte', 'binary', 'password', 'decimal',
] // prettier-ignore

interface LimitProps {
  readonly keyword: string
  readonly kind: Kind
  readonly title: string
  readonly value: unknown
  onChange(value: unknown): void
}

/** The field of one keyword. */
export function Limit(props: LimitProps) {
  const { keyword } = props
  if (keyword === 'enum') return <Values {...props} />
  if (keyword === 'types') return <Values {...props} kind="string" />
  if (keyword === 'maxSize') return <Size {...props} />
  if (keyword === 'pattern') return <Pattern {...props} />
  if (keyword === 'const') return <PlainValue {...props} kind="any" />
  if (keyword === 'format') return <Format {...props} />
  if (keyword === 'uniqueItems') return <Flag {...props} />
  if (keyword === 'additionalProperties') return <OtherFields {...props} />
  return <Amount {...props} />
}

function labelsOf({ keyword, title }: Pick<LimitProps, 'keyword' | 'title'>) {
  const label = keywordsTexts[keyword] ?? keyword
  return { label, 'aria-label': schemaEditorTexts.limitOf(label, title) }
}

function Amount({ value, onChange, ...props }: LimitProps) {
  const isCount = /^(min|max)(Length|Items|Properties)$/.test(props.keyword)
  return (
    <NumberInput
      {...labelsOf(props)}
      value={typeof value === 'number' ? value : ''}
      hideControls
      allowDecimal={!isCount && props.kind !== 'integer'}
      allowNegative={!isCount}
      {...(isCount ? { min: 0 } : {})}
      onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
    />
  )
}

export function Flag({ value, onChange, ...props }: Omit<LimitProps, 'kind'>) {
  return (
    <Checkbox
      {...labelsOf(props)}
      checked={value === true}
      onChange={({ currentTarget: { checked } }) => onChange(checked ? true : undefined)}
    />
  )
}

function Format({ value, onChange, ...props }: LimitProps) {
  const known =
    allFormats.some((one) => one === value) || typeof value !== 'string' ? allFormats : [value, ...allFormats]
  return (
    <NativeSelect
      {...labelsOf(props)}
      value={typeof value === 'string' ? value : ''}
      data={[{ value: '', label: schemaEditorTexts.noFormat }, ...known]}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  )
}

function Pattern({ value, onChange, ...props }: LimitProps) {
  const text = typeof value === 'string' ? value : ''
  return (
    <TextInput
      {...labelsOf(props)}
      value={text}
      className="mono-input"
      spellCheck={false}
      error={isPattern(text) ? undefined : schemaEditorTexts.invalidPattern}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  )
}

/** A size such as `5mb`. A file needs one, so an empty field is reported. */
function Size({ value, onChange, ...props }: LimitProps) {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return (
    <TextInput
      {...labelsOf(props)}
      value={text}
      placeholder="5mb"
      required
      error={text === '' ? schemaEditorTexts.noSize : undefined}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
    />
  )
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function Values({ kind, value, onChange, ...props }: LimitProps) {
  const values = Array.isArray(value) ? (value as readonly unknown[]) : []
  const others = values.filter((one) => one === null)
  return (
    <TagsInput
      {...labelsOf(props)}
      placeholder={values.length === 0 ? schemaEditorTexts.valuesHint : ''}
      value={values.filter((one) => one !== null).map((one) => writeValue(one, kind))}
      splitChars={[]}
      onChange={(next) => {
        const parsed = next.map((one) => parseValue(one, kind)).filter((one) => one !== undefined)
        onChange(parsed.length === 0 ? undefined : [...parsed, ...others])
      }}
    />
  )
}

/** A value in one line: a text without quotes unless it would be read as something else. */
export function PlainValue({ kind, value, onChange, ...props }: LimitProps) {
  const [typed, setTyped] = useState<string>()
  const labels = labelsOf(props)
  if (kind === 'boolean') {
    return (
      <NativeSelect
        {...labels}
        value={typeof value === 'boolean' ? String(value) : ''}
        data={[
          { value: '', label: flagTexts.unset },
          { value: 'true', label: flagTexts.true },
          { value: 'false', label: flagTexts.false },
        ]}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === '' ? undefined : currentTarget.value === 'true')
        }
      />
    )
  }
  return (
    <TextInput
      {...labels}
      value={typed ?? writeValue(value, kind)}
      dir="auto"
      onBlur={() => setTyped(undefined)}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text)
        onChange(text === '' && props.keyword === 'default' ? undefined : parseValue(text, kind))
      }}
    />
  )
}

/** Returns the value of a text; undefined if it is none of the kind. */
function parseValue(text: string, kind: Kind): unknown {
  if (kind === 'string') return text
  if (kind === 'integer' || kind === 'number') {
    const number = Number(text)
    return text.trim() !== '' && Number.isFinite(number) && (kind === 'number' || Number.isInteger(number))
      ? number
      : undefined
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function writeValue(value: unknown, kind: Kind): string {
  if (value === undefined) return ''
  if (typeof value === 'string')
    return kind === 'string' || parseValue(value, kind) === value ? value : JSON.stringify(value)
  return JSON.stringify(value)
}

function OtherFields({ value, onChange, ...props }: LimitProps) {
  const current = value === false ? 'refused' : value === undefined || value === true ? 'allowed' : 'typed'
  return (
    <NativeSelect
      {...labelsOf(props)}
      value={current}
      data={Object.entries(otherFieldsTexts).map(([one, label]) => ({ value: one, label }))}
      onChange={({ currentTarget }) => {
        const next = currentTarget.value
        onChange(next === 'refused' ? false : next === 'typed' ? { type: 'string' } : undefined)
      }}
    />
  )
}
