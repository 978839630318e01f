const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text can be the id of a user, a client or a token: no database is asked for one that cannot. */
export function isUuid(text: string): boolean {
  return form.test(text)
}
