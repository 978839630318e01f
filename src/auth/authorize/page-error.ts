/** Something that the user is told on a page: the client is not known well enough to be sent an answer. */
export class PageError extends Error {
  readonly status: number
  readonly title: string
  readonly hint: string | undefined

  constructor(title: string, detail: string, options: { status?: number; hint?: string } = {}) {
    super(detail)
    this.name = 'PageError'
    this.title = title
    this.status = options.status ?? 400
    this.hint = options.hint
  }
}
