import { Flags, HostCommand, limitFlag, sinceFlag, toPrintable } from '../../bin/cli/index.ts'
import type { ListedAudit } from '../../src/operate/index.ts'

export default class AuditList extends HostCommand {
  static override description = 'List administrative changes, newest first'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --since 7d',
    '<%= config.bin %> <%= command.id %> --user ann --action user.scopes',
    '<%= config.bin %> <%= command.id %> --action release --json',
    '<%= config.bin %> <%= command.id %> --subject PAYMENT_KEY',
  ]
  static override enableJsonFlag = true
  static override flags = {
    since: sinceFlag({ description: 'Only changes since this time: how long ago, such as 24h, or an ISO time' }),
    user: Flags.string({ description: 'Only changes that this user made, by name or id' }),
    action: Flags.string({ description: 'Only this action, such as user.disable, or all of a kind, such as user' }),
    subject: Flags.string({ description: 'Only changes of this user, client, variable or other subject, by its name' }),
    'subject-id': Flags.string({
      description:
        'Only changes of the subject with this id; of a row, its key: --subject System.app_order --subject-id 7',
    }),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(AuditList)
    const { listHostAudit } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { entry, next } = await listHostAudit(host, { ...flags, subjectId: flags['subject-id'] })
      this.#show(entry)
      if (next !== undefined) this.note(`\nShowing the newest ${flags.limit}; use --limit to show more.`)
      return { audit: entry.map(toJson) }
    })
  }

  #show(entries: readonly ListedAudit[]): void {
    if (entries.length === 0) {
      this.note('No changes found.')
      return
    }
    const cells = (of: (entry: ListedAudit) => string) => entries.map(of)
    this.printTable([
      { title: 'TIME (UTC)', cells: cells(({ at }) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')) },
      { title: 'USER', cells: cells(({ user }) => toPrintable(user.name)), narrow: 'wrap', order: 2, minWidth: 6 },
      { title: 'HOW', cells: cells(({ how }) => how) },
      { title: 'ACTION', cells: cells(({ action }) => action) },
      {
        title: 'SUBJECT',
        cells: cells(({ kind, subject }) => toPrintable(subject === null ? '-' : nameSubject(kind, subject))),
        narrow: 'wrap',
        order: 1,
      },
      { title: 'CHANGE', cells: cells((entry) => toPrintable(describeChange(entry))), narrow: 'cut' },
    ])
  }
}

/** Rows are called by their table, and their key is the id. */
function nameSubject(kind: string, { id, name }: NonNullable<ListedAudit['subject']>): string {
  return kind === 'row' && id !== null ? `${name} ${id}` : name
}

type Fact = NonNullable<ListedAudit['before']>[keyof NonNullable<ListedAudit['before']>]
type Facts = Readonly<Record<string, Fact>>

/** Describes the changed properties: `status active → disabled, tokens 2` or `scopes +todo -order`. */
function describeChange({ before, after }: ListedAudit): string {
  const [old, given] = [before ?? {}, after ?? {}] as [Facts, Facts]
  const names = [...new Set([...Object.keys(old), ...Object.keys(given)])]
  const parts = names.flatMap((name) => describeProperty(name, old[name], given[name]) ?? [])
  return parts.join(', ') || '-'
}

function describeProperty(name: string, before: Fact, after: Fact): string | undefined {
  if (isList(before) && isList(after)) {
    const added = after.filter((one) => !before.includes(one)).map((one) => `+${one}`)
    const removed = before.filter((one) => !after.includes(one)).map((one) => `-${one}`)
    return added.length + removed.length === 0 ? undefined : [name, ...added, ...removed].join(' ')
  }
  const [old, given] = [before, after].map((value) => (isList(value) ? value.join(' ') : `${value ?? ''}`))
  if (isNothing(before) || old === given) return isNothing(after) ? undefined : `${name} ${given}`
  return isNothing(after) ? `${name} ${old}` : `${name} ${old} → ${given}`
}

function isList(value: Fact): value is readonly string[] {
  return Array.isArray(value)
}

/** Counts of 0 and empty lists say nothing. */
function isNothing(value: Fact): boolean {
  return (
    value === undefined || value === null || value === 0 || value === '' || (Array.isArray(value) && value.length === 0)
  )
}

function toJson({ id, at, how, user, clientId, action, kind, subject, before, after }: ListedAudit) {
  return {
    id,
    time: new Date(at).toISOString(),
    how,
    user: user.name,
    user_id: user.id,
    client_id: clientId,
    action,
    kind,
    subject: subject?.name ?? null,
    subject_id: subject?.id ?? null,
    before,
    after,
  }
}
