import type { Action, Context, Request } from 'waypost'

export default class InsertTodo implements Action<'POST /todo'> {
  async handle({ body }: Request<'POST /todo'>, context: Context) {
    return context.transaction('System', async (db) => {
      const todo = await db
        .insertInto('app_todo')
        .values({ ...body, status: 1, insert_date: context.now().toISOString() })
        .returningAll()
        .executeTakeFirstOrThrow()
      await context.dispatch('todo_created', todo)
      return { success: true, message: 'To-do created', id: todo.id }
    })
  }
}
