import type { Action, Context, Request } from 'waypost'
import { selectTickets } from '../tickets.ts'

const itemsPerPage = 16
const maxRows = 10_000

export default class TicketCollection implements Action<'GET /v1/ticket'> {
  async handle({ query }: Request<'GET /v1/ticket'>, context: Context<'GET /v1/ticket'>) {
    const { startIndex, status } = query
    const all = selectTickets(context, context.state.member)
    const chosen = status === undefined ? all : all.where('status', '=', status)
    const newest = chosen.orderBy('id', 'desc')
    if (context.accepts === 'text/csv') {
      const rows = await newest.limit(maxRows).execute()
      const lines = rows.map(({ id, status: state, author, subject, insert_date: opened }) =>
        [id, state, author, subject, opened].map(toCell).join(','),
      )
      const text = ['id,status,author,subject,insert_date', ...lines, ''].join('\r\n')
      return context.respond(200, text, {
        'content-type': 'text/csv',
        'content-disposition': 'attachment; filename="tickets.csv"',
      })
    }
    const { count } = await chosen
      .clearSelect()
      .select((column) => column.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    const entry = await newest.limit(itemsPerPage).offset(startIndex).execute()
    return { totalResults: count, startIndex, itemsPerPage, entry }
  }
}

/** Writes a cell. Spreadsheets would run a text that begins like a formula. */
function toCell(value: string | number): string {
  const text = String(value).replace(/^[=+\-@\t\r]/, "'$&")
  return `"${text.replaceAll('"', '""')}"`
}
