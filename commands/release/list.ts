import {
  Flags,
  HostCommand,
  formatSpan,
  paint,
  toPrintable,
  shortenCommit,
  wrap,
  shortId,
} from '../../bin/cli/index.ts'
import type { Host } from '../../src/host/index.ts'
import type { ListedRelease, ListedReleases, ListedServer } from '../../src/operate/index.ts'

export default class ReleaseList extends HostCommand {
  static override description = 'List releases and the servers that serve them'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --limit 100 --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    limit: Flags.integer({ description: 'Maximum number of releases', default: 20, min: 1, max: 10_000 }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(ReleaseList)
    const { listHostReleases } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const listed = await listHostReleases(host, flags)
      const { releases, servers, now } = listed
      if (releases.length === 0) this.note('No releases. Deploy one: waypost deploy')
      else this.#showReleases(listed)
      if (servers.length > 0) this.#showServers(listed)
      else if (releases.length > 0) this.note(`\n${await this.#describeAbsence(host, listed)}`)
      if (releases.length === flags.limit) this.note(`\nShowing the newest ${flags.limit}; use --limit to show more.`)
      return { releases: releases.map(releaseToJson), servers: servers.map((server) => serverToJson(server, now)) }
    })
  }

  /** `dev` is not a server of the list, because it serves the files of a folder. */
  async #describeAbsence({ folder }: Host, { isDevelopment }: ListedReleases): Promise<string> {
    if (!isDevelopment) return 'No server is running. Start one: waypost serve'
    const { findRunningDev } = await import('../../src/project/index.ts')
    const dev = await findRunningDev(folder)
    return dev === undefined
      ? 'Nothing serves this folder. Start it: waypost dev'
      : `waypost dev serves this folder at ${dev.url}`
  }

  #showReleases({ releases, now }: ListedReleases): void {
    const cells = (of: (release: ListedRelease) => string) => releases.map(of)
    this.printTable([
      { title: 'RELEASE', cells: cells(({ id }) => shortId(id)) },
      { title: 'STATE', cells: cells(({ isActive }) => (isActive ? 'active' : '-')) },
      { title: 'ACTIVATED', cells: cells(({ activatedAt }) => `${formatSpan(now - activatedAt)} ago`) },
      { title: 'HOW', cells: cells(({ kind }) => kind) },
      {
        title: 'BY',
        cells: cells(({ activatedBy }) => toPrintable(activatedBy)),
        narrow: 'wrap',
        order: 1,
        minWidth: 12,
      },
      { title: 'COMMIT', cells: cells(({ commit }) => (commit === undefined ? '-' : shortenCommit(commit))) },
      { title: 'MESSAGE', cells: cells(({ message }) => toPrintable(message ?? '-')), narrow: 'cut', order: 0 },
    ])
  }

  #showServers({ servers, now }: ListedReleases): void {
    const cells = (of: (server: ListedServer) => string) => servers.map(of)
    this.print()
    this.printTable([
      { title: 'SERVER', cells: cells(({ name }) => toPrintable(name)), narrow: 'wrap', order: 0, minWidth: 12 },
      { title: 'WAYPOST', cells: cells(({ version }) => version) },
      { title: 'SERVES', cells: cells(({ release }) => (release === null ? '-' : shortId(release))) },
      { title: 'STATE', cells: cells(({ state }) => state) },
      { title: 'SINCE', cells: cells(({ stateAt }) => formatSpan(now - stateAt)) },
      { title: 'HEARD', cells: cells(({ heartbeatAt }) => `${formatSpan(now - heartbeatAt)} ago`) },
    ])
    for (const { name, state, wanted, error } of servers) {
      if (error === null || state !== 'failed') continue
      const what = `${toPrintable(name)} does not serve ${wanted === null ? 'the active release' : shortId(wanted)}`
      this.print(`\n  ${paint('red', 'failed')}   ${wrap(`${what}: ${toPrintable(error)}`, 11)}`)
    }
  }
}

function releaseToJson({ id, isActive, kind, activatedAt, activatedBy, message, commit, createdAt }: ListedRelease) {
  const [activated, created] = [activatedAt, createdAt].map(timeOf)
  return {
    release: id,
    active: isActive,
    kind,
    activated,
    by: activatedBy,
    message: message ?? null,
    commit: commit ?? null,
    created,
  }
}

function serverToJson({ stateAt, heartbeatAt, ...server }: ListedServer, now: number) {
  const silence = Math.max(0, now - heartbeatAt)
  return { ...server, since: timeOf(stateAt), heartbeat: timeOf(heartbeatAt), heartbeat_age_ms: silence }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
