import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { isNumber, type RowColumn } from './row-values.ts'
import { panelTexts as texts } from './row-texts.ts'

interface RowEditorProps {
  readonly column: RowColumn
  /** Null for null, undefined for what the database sets. */
  readonly text: string | null | undefined
  readonly error: string | undefined
  readonly label: ReactNode
  /** Whether it offers a new id: a new row, and no reference to one that exists. */
  readonly canGenerate: boolean
  onChange(text: string): void
}

/** The field for a value, by the type of its column. */
export function RowEditor({ column, text, error, label, canGenerate, onChange }: RowEditorProps) {
  const { name, type, values } = column
  const field = {
    name,
    label,
    error,
    value: text ?? '',
    readOnly: column.fixed,
    placeholder: text === null ? 'null' : text === undefined && column.default ? texts.byDefault : '',
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value),
  }
  if (values !== null || type === 'boolean') return <ChoiceField {...field} options={values ?? ['true', 'false']} />
  if (type === 'json' || type === 'array') return <JsonField {...field} isFixed={column.fixed} />
  if (type === 'text') return <LongField {...field} max={column.length} />
  if (type === 'date') return <TextInput {...field} type="date" max="9999-12-31" />
  if (type === 'timestamp' && !column.fixed)
    return (
      <WithButton text={texts.now} onClick={() => onChange(new Date().toISOString())}>
        <TextInput {...field} placeholder={field.placeholder || '2027-01-31T12:00:00Z'} />
      </WithButton>
    )
  if (type === 'uuid' && canGenerate)
    return (
      <WithButton text={texts.generate} onClick={() => onChange(crypto.randomUUID())}>
        <TextInput {...field} />
      </WithButton>
    )
  return (
    <TextInput {...field} inputMode={isNumber(type) || type === 'bigint' || type === 'numeric' ? 'decimal' : 'text'} />
  )
}

interface FieldProps {
  readonly name: string
  readonly label: ReactNode
  readonly error: string | undefined
  readonly value: string
  readonly placeholder: string
  readonly readOnly: boolean
  onChange(event: { readonly currentTarget: { readonly value: string } }): void
}

function ChoiceField({
  options,
  placeholder,
  readOnly,
  ...field
}: FieldProps & { readonly options: readonly string[] }) {
  const all = options.includes(field.value) ? options : [field.value, ...options]
  return (
    <NativeSelect
      {...field}
      disabled={readOnly}
      data={all.map((value) => ({ value, label: value === '' ? placeholder || '–' : value }))}
    />
  )
}

/** Grows with its text, also with its empty lines. */
function LongField({ max, ...field }: FieldProps & { readonly max: number | null }) {
  const length = Array.from(field.value).length
  return (
    <Textarea
      {...field}
      autosize
      minRows={1}
      maxRows={16}
      {...(max !== null && length > max * 0.8 && { description: texts.characters(length, max) })}
    />
  )
}

function JsonField({ isFixed, ...field }: FieldProps & { readonly isFixed: boolean }) {
  const formatted = formatJson(field.value)
  const area = (
    <Textarea
      {...field}
      error={field.error ?? (field.value !== '' && formatted === undefined ? texts.notJson : undefined)}
      autosize
      minRows={2}
      maxRows={20}
      classNames={{ input: 'mono' }}
      spellCheck={false}
    />
  )
  if (isFixed || formatted === undefined || formatted === field.value) return area
  return (
    <WithButton text={texts.formatJson} onClick={() => field.onChange({ currentTarget: { value: formatted } })}>
      {area}
    </WithButton>
  )
}

/** Indents a JSON text without reading its numbers, which would round them. */
function formatJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const formatted = JSON.stringify(value, undefined, 2)
    const isExact = JSON.stringify(value).replaceAll(/\s/g, '') === text.replaceAll(/\s/g, '')
    return isExact ? formatted : text
  } catch {
    return undefined
  }
}

interface WithButtonProps {
  readonly text: string
  readonly children: ReactNode
  onClick(): void
}

function WithButton({ text, children, onClick }: WithButtonProps) {
  return (
    <div className="field-beside">
      <div className="field-beside-main">{children}</div>
      <Button variant="default" onClick={onClick}>
        {text}
      </Button>
    </div>
  )
}
