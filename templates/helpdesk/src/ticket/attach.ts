import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Action, Context, Request } from 'waypost'
import { findTicket } from '../tickets.ts'

export default class AttachFiles implements Action<'POST /v1/ticket/:ticket_id/attachment'> {
  async handle(
    { params, body: { files } }: Request<'POST /v1/ticket/:ticket_id/attachment'>,
    context: Context<'POST /v1/ticket/:ticket_id/attachment'>,
  ) {
    const ticket = await findTicket(context, context.state.member, params.ticket_id)
    const folder = context.env.ATTACHMENTS
    await mkdir(folder, { recursive: true })
    // Names of callers are stored, and never used as names of files.
    const named = files.map((file) => ({ file, stored: randomUUID() }))
    try {
      for (const { file, stored } of named) await writeFile(path.join(folder, stored), file.stream())
      return await context
        .connection('System')
        .insertInto('app_attachment')
        .values(
          named.map(({ file: { name, type, size }, stored }) => ({
            ticket_id: ticket.id,
            file: stored,
            name,
            type,
            size,
          })),
        )
        .returning(['id', 'name', 'type', 'size'])
        .execute()
    } catch (error) {
      await Promise.all(named.map(({ stored }) => rm(path.join(folder, stored), { force: true })))
      throw error
    }
  }
}
