import type { Action, Context, Request } from 'waypost'

const itemsPerPage = 16

export default class TodoCollection implements Action<'GET /todo'> {
  async handle({ query }: Request<'GET /todo'>, context: Context) {
    const open = context.connection('System').selectFrom('app_todo').where('status', '=', 1)
    const { count } = await open.select((q) => q.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    const entry = await open
      .selectAll()
      .orderBy('insert_date', 'desc')
      .orderBy('id', 'desc')
      .limit(itemsPerPage)
      .offset(query.startIndex)
      .execute()
    return { totalResults: count, startIndex: query.startIndex, itemsPerPage, entry }
  }
}
