import type { Action, Context, Request } from 'waypost'

/** Posts a mail to the mail API. A run that fails is repeated after the delays in waypost.yml. */
export default class SendMail implements Action<'listener:send_mail'> {
  async handle({ body, message }: Request<'listener:send_mail'>, context: Context<'listener:send_mail'>) {
    const { MAIL_URL: url, MAIL_KEY: key } = context.env
    if (url === '') throw context.discard('MAIL_URL is not set')
    const response = await fetch(url, {
      method: 'POST',
      // A repeated run has the same id, so that the mail API can recognize a mail that it has already sent.
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': message.id },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: context.signal,
    })
    await response.body?.cancel()
    if (response.status === 429) throw context.retryAt(new Date(context.now().getTime() + 60_000))
    if (!response.ok) throw new Error(`The mail API responded with ${response.status}`)
    context.log.info({ status: response.status }, 'sent a mail')
  }
}
