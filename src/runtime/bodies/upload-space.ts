import { errors } from '../errors.ts'

/** How much disk the uploads of this process use at the moment. */
let used = 0

/** Takes disk for an upload. @throws WP_RUNTIME_UPLOAD_SPACE if all of `limit` is in use */
export function takeSpace(bytes: number, limit: number): void {
  if (used + bytes > limit) throw errors.WP_RUNTIME_UPLOAD_SPACE({}, { retryAfterSeconds: 5 })
  used += bytes
}

export function giveSpace(bytes: number): void {
  used -= bytes
}
