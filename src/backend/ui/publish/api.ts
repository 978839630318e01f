import type { ResponseOf } from '../api/call.ts'

/** A change of the draft: an entry of a part of waypost.yml, or a file that it does not include. */
export type DraftEntry = ResponseOf<'GET /draft'>['entries'][number]
/** An entry that the draft and a later release changed. Values are JSON, or texts of files; null if absent. */
export type DraftConflict = ResponseOf<'GET /draft'>['conflicts'][number]
export type Plan = ResponseOf<'POST /draft/plan'>
export type Publication = ResponseOf<'GET /publish/:id'>
