import { useState } from 'react'
import { Problem, type WithEtag } from '../api/send.ts'

interface EditOptions<Record, Fields> {
  readonly record: Record
  readonly etag: string | undefined
  /** The editable values of a record. */
  fieldsOf(record: Record): Fields
  /** Loads the record again, after another user changed it. */
  reload(): Promise<WithEtag<Record>>
  /** Sends the fields with the ETag of the record that they were based on. */
  save(fields: Fields, ifMatch: string | undefined): Promise<WithEtag<Record>>
}

export interface Edit<Fields> {
  /** What was typed. */
  readonly fields: Fields
  /** The stored values that the edit is based on. */
  readonly before: Fields
  /** Whether something was typed that is not saved. */
  readonly hasChanges: boolean
  /** Whether another user changed the record since the edit began. `before` has the new values. */
  readonly hasConflict: boolean
  set(change: Partial<Fields>): void
  /** @throws the problem of a conflict; saving again replaces what the other user changed */
  save(): Promise<void>
}

/** The edit of a record that others can change too. New values of the server replace only what was not edited. */
export function useEdit<Record, Fields extends object>(options: EditOptions<Record, Fields>): Edit<Fields> {
  const { record, etag, fieldsOf } = options
  const [edit, setEdit] = useState<Partial<Fields>>({})
  const [base, setBase] = useState({ record, etag })
  const [seen, setSeen] = useState(etag)
  const [hasConflict, setConflict] = useState(false)
  if (etag !== seen) {
    setSeen(etag)
    if (Object.keys(edit).length === 0) setBase({ record, etag })
  }
  const before = fieldsOf(base.record)
  const fields = { ...before, ...edit }
  return {
    fields,
    before,
    hasChanges: (Object.keys(edit) as (keyof Fields)[]).some((name) => !isSameField(fields[name], before[name])),
    hasConflict,
    set: (change) => setEdit({ ...edit, ...change }),
    async save() {
      try {
        const saved = await options.save(fields, base.etag)
        setBase({ record: saved.data, etag: saved.etag })
        setEdit({})
        setConflict(false)
      } catch (error) {
        if (error instanceof Problem && error.code === 'WP_BACKEND_CHANGED') {
          const current = await options.reload()
          setBase({ record: current.data, etag: current.etag })
          setConflict(true)
        }
        throw error
      }
    },
  }
}

/** Compares texts, or lists of texts in any order. */
export function isSameField(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other
  return one.length === other.length && one.every((item) => other.includes(item))
}
