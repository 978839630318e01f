import type { Action, Context, Request } from 'waypost'

export default class DeleteTodo implements Action<'DELETE /todo/:todo_id'> {
  async handle({ params }: Request<'DELETE /todo/:todo_id'>, context: Context) {
    const { numUpdatedRows } = await context
      .connection('System')
      .updateTable('app_todo')
      .set({ status: 0 })
      .where('id', '=', params.todo_id)
      .where('status', '=', 1)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw context.problem(404, `There is no to-do ${params.todo_id}`)
    return { success: true, message: 'To-do removed' }
  }
}
