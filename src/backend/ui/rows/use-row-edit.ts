import { useState } from 'react'
import { Problem } from '../api/send.ts'
import { toText, toValue, type Row, type RowColumn, type RowDraft } from './row-values.ts'

export interface RowEdit {
  readonly draft: RowDraft
  /** The columns that were edited. */
  readonly changed: readonly string[]
  /** Whether another user changed the row since the edit began. */
  readonly hasConflict: boolean
  set(name: string, text: string | null | undefined): void
  /** The values of what was edited. */
  values(): Readonly<Record<string, unknown>>
  /** Sends the edit. After a conflict, sending again replaces what the other user changed in the same columns. */
  save(send: (values: Readonly<Record<string, unknown>>, etag: string | undefined) => Promise<Row>): Promise<Row>
}

/** The edit of a row, or of a new one. What was not edited shows the current values. */
export function useRowEdit(columns: readonly RowColumn[], row: Row | undefined): RowEdit {
  const [base, setBase] = useState(row)
  const [edits, setEdits] = useState<RowDraft>({})
  const [hasConflict, setConflict] = useState(false)
  const before = base === undefined ? {} : draftOf(base.values)
  const changed = Object.keys(edits).filter((name) => edits[name] !== before[name])
  const values = () =>
    Object.fromEntries(
      columns
        .filter(({ name }) => changed.includes(name) && edits[name] !== undefined)
        .map((column) => [column.name, toValue(column, edits[column.name]!)]),
    )
  return {
    draft: { ...before, ...edits },
    changed,
    hasConflict,
    values,
    set: (name, text) => setEdits((all) => ({ ...all, [name]: text })),
    async save(send) {
      try {
        return await send(values(), base?.etag)
      } catch (error) {
        const current = currentOf(error)
        if (current !== undefined) {
          setBase(current)
          setConflict(true)
        }
        throw error
      }
    },
  }
}

function draftOf(values: Row['values']): RowDraft {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toText(value)]))
}

/** The row as it is now, from the problem of a conflict. */
function currentOf(error: unknown): Row | undefined {
  if (!(error instanceof Problem) || error.code !== 'WP_BACKEND_CHANGED') return undefined
  return error.body['current'] as Row | undefined
}
