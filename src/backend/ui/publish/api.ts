import type { Answer } from '../api/call.ts'

/** A change of the draft: an entry of a part of waypost.yml, or a file that it does not include. */
export type DraftEntry = Answer<'GET /draft'>['entries'][number]
/** An entry that the draft and a later release changed. Values are JSON, or texts of files; null if absent. */
export type DraftConflict = Answer<'GET /draft'>['conflicts'][number]
export type Plan = Answer<'POST /draft/plan'>
export type Publication = Answer<'GET /publish/:id'>
