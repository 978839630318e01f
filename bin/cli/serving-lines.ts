import { toPrintable, shortId } from '../../src/kit/index.ts'
import type { ServerOutcome } from '../../src/operate/index.ts'
import { paint, plural } from './format.ts'
import { wrap } from './print-diagnostics.ts'

export interface ServingReport {
  /** The expected release. */
  readonly release: string
  /** The previously active release, the target of a rollback. */
  readonly before?: string | undefined
  readonly servers: readonly ServerOutcome[]
  readonly waitMs: number
  /** Variables of the release with the servers that lack them. */
  readonly missing?: readonly { readonly name: string; readonly servers: readonly string[] }[]
  /** The flags that select the target. */
  readonly targetFlags?: readonly string[]
}

const head = '  Serving    '
const between = '   '
const hardBlank = '\u00A0'

/** Formats the state of a release on the servers, with the next steps if one does not serve it. */
export function formatServing(served: ServingReport, stream: NodeJS.WriteStream = process.stdout): string[] {
  const { servers, release } = served
  if (servers.length === 0) return [`${head}no server is running; start one with waypost serve`]
  const groups = Map.groupBy(servers, (server) => (server.state === 'serving' ? server : describe(server, served)))
  const lines = fill(
    [...groups.values()].map((same) => `${namesOf(same)} ${describe(same[0]!, served)}`),
    stream,
  )
  const notServing = servers.filter(({ state }) => state !== 'serving')
  if (notServing.length === 0) return lines
  const count = servers.length - notServing.length
  const staleGroups = [...Map.groupBy(notServing, ({ release: old }) => (old === null ? 'none' : shortId(old)))].map(
    ([old, same]) => `${namesOf(same)} still ${same.length === 1 ? 'serves' : 'serve'} ${old}`,
  )
  const sum = `${count} of ${plural(servers.length, 'server')} ${count === 1 || servers.length === 1 ? 'serves' : 'serve'} ${shortId(release)}`
  return [
    ...lines,
    `  ${wrap(`${sum}; ${staleGroups.join(', ')}.`, 2, stream)}`,
    ...nextSteps(served, { notServing, stream }),
  ]
}

/** Puts as many words on each line as fit. */
function fill(words: readonly string[], stream: NodeJS.WriteStream): string[] {
  const lines: string[] = []
  for (const word of words) {
    const longer = lines.length === 0 ? undefined : `${lines.at(-1)}${between}${word}`
    if (longer !== undefined && !wrap(longer, head.length, stream).includes('\n')) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.map((line, index) => `${index === 0 ? head : ' '.repeat(head.length)}${wrap(line, head.length, stream)}`)
}

function describe({ state, ms, error }: ServerOutcome, { waitMs }: ServingReport): string {
  if (state === 'serving') return `${(ms / 1000).toFixed(1)} s`
  if (state === 'late') return `not ready ${waitMs === 0 ? 'yet' : `within ${waitMs / 1000} s`}`
  return `failed: ${toPrintable(error ?? 'unknown cause')}`
}

function namesOf(servers: readonly ServerOutcome[]): string {
  return servers.map(({ name }) => toPrintable(name)).join(', ')
}

function nextSteps(
  { before, missing = [], targetFlags = [], waitMs }: ServingReport,
  { notServing, stream }: { readonly notServing: readonly ServerOutcome[]; readonly stream: NodeJS.WriteStream },
): string[] {
  if (waitMs === 0 && notServing.every(({ state }) => state === 'late')) return []
  const fixes = missing.flatMap(({ name, servers }) => {
    const on = notServing.filter((server) => servers.includes(server.name)).map((server) => toPrintable(server.name))
    return on.length === 0 ? [] : [`Set ${name} on ${on.join(' and ')}`]
  })
  const first = fixes.length === 0 ? 'Servers retry automatically' : `${fixes.join(', ')}; servers retry automatically`
  if (before === undefined) return [`  ${wrap(`${first}.`, 2, stream)}`]
  const command = ['waypost release:rollback', shortId(before), ...targetFlags].join(' ')
  // A command to copy stays on one line.
  const kept = command.replaceAll(' ', hardBlank)
  const text = wrap(`${first}. To roll back: ${kept}`, 2, stream).replaceAll(hardBlank, ' ')
  return [`  ${text.replace(command, paint('cyan', command, stream))}`]
}
