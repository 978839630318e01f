import type { OutgoingHttpHeaders } from 'node:http'
import type { Response } from '../contract/index.ts'

/** The result of `context.respond`. A class, so that it can be told apart from a plain result. */
export class ActionResponse implements Response {
  readonly status: number
  readonly body: unknown
  readonly headers: OutgoingHttpHeaders

  constructor(status: number, body: unknown, headers: OutgoingHttpHeaders = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** The result of `context.file`, which browsers must not treat as a page of this site, whatever the method says. */
export class FileResponse extends ActionResponse {}
