import type { Action, Context, Request } from 'waypost'

export default class TodoEntity implements Action<'GET /todo/:todo_id'> {
  async handle({ params }: Request<'GET /todo/:todo_id'>, context: Context) {
    return context
      .connection('System')
      .selectFrom('app_todo')
      .selectAll()
      .where('id', '=', params.todo_id)
      .where('status', '=', 1)
      .executeTakeFirstOrThrow(() => context.problem(404, `There is no to-do ${params.todo_id}`))
  }
}
