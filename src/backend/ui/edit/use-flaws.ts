import { useEffect, useMemo, useState } from 'react'
import type { checkValue } from './check-value.ts'
import type { DraftEdit } from './draft-edit.ts'
import { describeValue } from './fields.tsx'
import { isEqual } from './values.ts'

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

/** Checks changed values while they are typed. What the server said comes first. */
export function useFlaws(edit: DraftEdit, at: string, schema: unknown): DraftEdit['errorOf'] {
  const [check, setCheck] = useState<typeof checkValue>()
  useEffect(() => {
    void import('./check-value.ts').then((loaded) => setCheck(() => loaded.checkValue))
  }, [])
  const value = edit.get(at)
  const flaws = useMemo(() => check?.(schema, value) ?? [], [check, schema, value])
  return (pointer) => {
    const refused = edit.errorOf(pointer)
    const own = edit.get(pointer)
    const before = edit.before(pointer)
    const isUntouched = isEqual(own, before) || (before === undefined && isEmpty(own)) // just added
    const isDone = own === undefined || isUntouched || describeValue(own).includes('${env.')
    if (refused !== undefined || isDone) return refused
    return flaws.find((one) => at + one.at === pointer)?.message
  }
}
