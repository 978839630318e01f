import type { ColumnSnapshot } from '../contract/index.ts'
import { isWrittenForm } from '../tables/index.ts'
import { errors } from './errors.ts'

/** The form in which new times of a column are written. */
export interface ChosenForm {
  /** `TABLE.COLUMN` */
  readonly column: string
  readonly form: NonNullable<ColumnSnapshot['written']>
}

/** @param given `TABLE.COLUMN=FORM` @throws WP_PROJECT_FORM */
export function parseForm(given: string): ChosenForm {
  const [column, form] = [given.slice(0, given.lastIndexOf('=')), given.slice(given.lastIndexOf('=') + 1)]
  if (!column.includes('.') || !isWrittenForm(form)) throw errors.WP_PROJECT_FORM({ given })
  return { column, form }
}
