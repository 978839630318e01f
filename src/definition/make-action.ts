import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { ActionUse, ClassUse } from './definition.ts'
import { locationOf, type Making } from './making.ts'
import { textOf, toValue, valueOf, type MapNode, type Node, type ScalarNode } from './node.ts'
import { checkInside, isLink, type Refusal } from './read-file.ts'
import { checkName } from './section.ts'

/** What an action place says: a file, the name of an action, or a class in place. */
export function makeAction(making: Making, node: Node | undefined): ActionUse | undefined {
  if (node?.kind === 'map') return makeClassUse(making, node, 'action')
  const text = textOf(node)
  if (node?.kind !== 'scalar' || text === undefined || text === '') return undefined
  if (/\.[tj]s$/.test(text)) return makeFileUse(making, node, text)
  const { action } = making.sections
  const { report } = making.loading
  if (!action.entries.has(text) && (text.includes('/') || /\.[cm]?[tj]sx?$/.test(text))) {
    const hint = `A file name ends in .ts or .js; any other text is the name of an entry in "action"`
    report.add({ code: action.code, at: node, parameters: { name: text }, hint })
    return undefined
  }
  if (!checkName(action, text, { at: node, report })) return undefined
  const entry = action.entries.get(text)!.value
  return entry.kind === 'map' ? describeClassUse(entry) : undefined
}

/** Notes a class for the check of its config, and that variables may stand there. */
export function makeClassUse(making: Making, node: MapNode, kind: 'connection' | 'action'): ClassUse | undefined {
  making.classUses.push({ kind, node })
  const config = valueOf(node, 'config')
  if (config !== undefined) making.variablePlaces.push(config)
  return describeClassUse(node)
}

function describeClassUse(node: MapNode): ClassUse | undefined {
  const name = textOf(valueOf(node, 'class'))
  if (name === undefined) return undefined
  const config = valueOf(node, 'config')
  return {
    class: name,
    config: config?.kind === 'map' ? (toValue(config) as Record<string, unknown>) : {},
    at: locationOf(node),
  }
}

function makeFileUse(making: Making, node: ScalarNode, text: string): ActionUse | undefined {
  const { report, files } = making.loading
  const file = path.posix.normalize(text)
  const isRelative = !path.posix.isAbsolute(text) && !text.includes('\\') && !/^[a-z][a-z0-9+.-]*:/i.test(text)
  const known = making.actionFiles.get(file)
  if (known === true) return { file, at: locationOf(node) }
  const refusal = isRelative ? checkFile(making, file) : ({ problem: 'outside' } as const)
  making.actionFiles.set(file, refusal === undefined)
  if (refusal === undefined) return { file, at: locationOf(node) }
  if (refusal.problem === 'missing') {
    files.add(file)
    report.add({ code: 'WP_BUILD_ACTION_MISSING', at: node, parameters: { file }, hint: suggestFile(making, file) })
  } else if (refusal.problem === 'outside') {
    const problem = `"${text}" is outside the project`
    const hint = 'Write the path relative to waypost.yml, for example src/todo/insert.ts'
    report.add({ code: 'WP_DEFINITION_ACTION_INVALID', at: node, parameters: { problem }, hint })
  } else {
    const problem = `${file} cannot be used as an action: ${refusal.reason}`
    report.add({ code: 'WP_DEFINITION_ACTION_INVALID', at: node, parameters: { problem } })
  }
  return undefined
}

function checkFile({ loading }: Making, file: string): Refusal | undefined {
  const { texts, changed, cache, actionFiles } = loading
  actionFiles.add(file)
  if (texts?.has(file) || (changed?.has(file) === false && cache.actionFiles.has(file))) return undefined
  const refusal = checkInside(loading.folder, file)
  if (refusal === undefined) cache.actionFiles.add(file)
  else cache.actionFiles.delete(file)
  return refusal
}

function suggestFile({ loading }: Making, file: string): string {
  if (isLink(loading.folder, file)) return `${file} is a broken symbolic link: fix or remove it`
  const make = `waypost generate:action ${file}`
  const folder = path.posix.dirname(file)
  const own = path.posix.basename(file)
  const sources = sourcesIn(path.join(loading.folder.realRoot, folder), own)
  const near = loading.report.findNearest(own, sources)
  return near === undefined
    ? `Create it with: ${make}`
    : `Did you mean ${path.posix.join(folder, near)}? To create a new file: ${make}`
}

/** Not looked for before they are asked for; the missing one may be there again. */
function* sourcesIn(folder: string, missing: string): Iterable<string> {
  try {
    yield* readdirSync(folder)
      .filter((name) => /\.[tj]s$/.test(name) && name !== missing)
      .slice(0, 1000)
  } catch {
    // A folder that is not there has no files.
  }
}
