import { Flags, HostCommand, paint, plural } from '../../bin/cli/index.ts'

export default class SecretRotate extends HostCommand {
  static override summary = 'Seal everything in System under a new secret; the old one is refused afterwards.'
  static override description = [
    'Put the new secret in front of the old one: WAYPOST_SECRET="new,old". Signing keys and the secrets of subscriptions are sealed again in one transaction: interrupted, nothing has changed. Logins, tokens and sessions go on.',
    '\nWith servers that run, without a gap:',
    '  1. WAYPOST_SECRET="old,new" on every server, one after the other',
    '  2. WAYPOST_SECRET="new,old" on every server, one after the other',
    '  3. this command, with WAYPOST_SECRET="new,old"',
    '  4. WAYPOST_SECRET="new" on every server and for every command',
    '\nIt refuses to run while a living server does not seal under the new one. A folder with its own .waypost/secret gets a new one by itself.',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'WAYPOST_SECRET="$NEW,$OLD" <%= config.bin %> <%= command.id %>',
  ]
  static override enableJsonFlag = true
  static override flags = {
    force: Flags.boolean({ description: 'Run though a living server does not use the new secret yet' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SecretRotate)
    const { openHost } = await import('../../src/host/index.ts')
    const { rotateHostSecret } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { from, changed, resealed } = await rotateHostSecret(host, flags)
      const [keys, secrets] = [resealed.waypost_key, resealed.waypost_subscription]
      if (!changed && keys + secrets === 0) this.print(`  Nothing to do: the first secret of ${from} seals everything.`)
      else this.print(`  Sealed     ${plural(keys, 'signing key')}, ${plural(secrets, 'subscription')}`)
      const next = 'WAYPOST_SECRET to the new secret alone, wherever it is set'
      if (from === 'WAYPOST_SECRET') this.note(`  Next       set ${next}, and start those again that run`)
      else this.note(`  Wrote      ${paint('cyan', from, process.stderr)}; start waypost dev again if it runs`)
      return { from, changed, resealed: keys + secrets }
    })
  }
}
