import type { ReactNode } from 'react'
import { RowEditor } from './row-editor.tsx'
import { describeType, type RowColumn } from './row-values.ts'
import { panelTexts as texts } from './row-texts.ts'

interface RowFieldProps {
  readonly column: RowColumn
  readonly text: string | null | undefined
  readonly error: string | undefined
  readonly isNew: boolean
  /** Whether the row is found by this column, so that a change must keep its value. */
  readonly isKey: boolean
  /** A link to the row that the column refers to. */
  readonly reference: ReactNode
  readonly isReference: boolean
  onChange(text: string | null | undefined): void
}

/** A column in the panel: its type, its value, and what sets it to null or leaves it to the database. */
export function RowField(props: RowFieldProps) {
  const { column, text, error, isNew, isKey, reference, isReference, onChange } = props
  const { name, null: isNullable, default: hasDefault, type } = column
  const isFixed = column.fixed || (isKey && !isNew)
  const canDefault = isNew && (hasDefault || type === 'id') && text !== undefined
  return (
    <div className="row-field">
      <RowEditor
        column={{ ...column, fixed: isFixed, default: hasDefault || type === 'id' }}
        text={text}
        error={error}
        canGenerate={isNew && !isReference}
        onChange={onChange}
        label={
          <>
            <span translate="no">{name}</span>{' '}
            <span className="rows-type" translate="no">
              {describeType(column)}
              {type === 'timestamp' ? ` · ${texts.utc}` : ''}
            </span>
          </>
        }
      />
      {isFixed ? (
        <div className="row-field-actions">{reference}</div>
      ) : (
        <div className="row-field-actions">
          {reference}
          {canDefault ? (
            <Small label={texts.toDefault(name)} text={texts.setDefault} onClick={() => onChange(undefined)} />
          ) : null}
          {isNullable && text !== null ? (
            <Small label={texts.toNull(name)} text={texts.setNull} onClick={() => onChange(null)} />
          ) : null}
        </div>
      )}
    </div>
  )
}

interface SmallProps {
  readonly label: string
  readonly text: string
  onClick(): void
}

function Small({ label, text, onClick }: SmallProps) {
  return (
    <button type="button" className="row-field-small" aria-label={label} title={label} onClick={onClick}>
      {text}
    </button>
  )
}
