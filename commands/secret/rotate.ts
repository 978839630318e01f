import { Flags, HostCommand, paint, plural, ProgressLine } from '../../bin/cli/index.ts'

export default class SecretRotate extends HostCommand {
  static override summary = 'Re-encrypt System with a new secret'
  static override description = [
    'Put the new secret before the old one: WAYPOST_SECRET="new,old". Signing keys, subscription secrets and variables are re-encrypted in batches; if the command is interrupted, run it again. Logins, tokens and sessions stay valid; afterwards, the old secret no longer works.',
    '\nTo rotate without downtime:',
    '  1. WAYPOST_SECRET="old,new" on every server, one after the other',
    '  2. WAYPOST_SECRET="new,old" on every server, one after the other',
    '  3. this command, with WAYPOST_SECRET="new,old"',
    '  4. WAYPOST_SECRET="new" on every server and for every command',
    '\nThe command fails while a running server does not use the new secret yet. In a folder with .waypost/secret, it generates the new secret itself.',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'WAYPOST_SECRET="$NEW,$OLD" <%= config.bin %> <%= command.id %>',
  ]
  static override enableJsonFlag = true
  static override flags = {
    force: Flags.boolean({ description: 'Run even if a server does not use the new secret yet' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SecretRotate)
    const { openHost } = await import('../../src/host/index.ts')
    const { rotateHostSecret } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      let progress = { done: 0, total: 0 }
      const line = new ProgressLine(process.stderr, () => `  ${progress.done} of ${progress.total} values`)
      const onProgress = (now: typeof progress) => (progress = now)
      const rotating = rotateHostSecret(host, { ...flags, onProgress }).finally(() => line.end())
      const { from, changed, resealed } = await rotating
      const { waypost_key: keys, waypost_subscription: secrets, waypost_variable: live } = resealed
      const variables = live + resealed.waypost_draft_variable
      const count = keys + secrets + variables
      if (!changed && count === 0)
        this.print(`  Nothing to do: everything is encrypted with the first secret in ${from}.`)
      else
        this.print(
          `  Encrypted  ${plural(keys, 'signing key')}, ${plural(secrets, 'subscription')}, ${plural(variables, 'variable')}`,
        )
      const next = 'WAYPOST_SECRET to the new secret only, everywhere'
      if (from === 'WAYPOST_SECRET') this.note(`  Next       set ${next}, then restart the servers`)
      else this.note(`  Wrote      ${paint('cyan', from, process.stderr)}; restart waypost dev if it is running`)
      return { from, changed, resealed: count }
    })
  }
}
