import { fillPlaceholders, WaypostError } from '../../kit/index.ts'
import { errors } from '../errors.ts'

/** An edit that was refused because it could change more than its keys, or because a file cannot be parsed. */
export class EditRefused extends WaypostError {
  readonly reason: string
  /** Relative to the project's root. */
  readonly file: string
  readonly line: number

  constructor({ reason, file, line }: Pick<EditRefused, 'reason' | 'file' | 'line'>) {
    const row = errors.table.WP_DEFINITION_EDIT_REFUSED
    super('WP_DEFINITION_EDIT_REFUSED', { ...row, message: fillPlaceholders(row.message, { file, line, reason }) })
    this.reason = reason
    this.file = file
    this.line = line
  }
}
