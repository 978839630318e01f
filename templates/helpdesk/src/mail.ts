import type { Context } from 'waypost'

/** Mails to a member. In a transaction, the mail is sent only if the transaction is committed. */
export async function mailTo(
  context: Context,
  name: string,
  { subject, text }: { readonly subject: string; readonly text: string },
): Promise<void> {
  const { email } = await context
    .connection('System')
    .selectFrom('app_member')
    .select('email')
    .where('user_name', '=', name)
    .executeTakeFirstOrThrow()
  await context.dispatch('mail', { to: email, subject, text })
}
