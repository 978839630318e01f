import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { ActionUse, ClassUse } from './definition.ts'
import { configOf, locationOf, type DefinitionContext } from './definition-context.ts'
import { textOf, valueOf, type MapNode, type Node, type ScalarNode } from './node.ts'
import { checkProjectFile, isLink, type FileProblem } from './read-file.ts'
import { checkName } from './section.ts'

/** Reads an action: a file, the name of an action, or an inline class; of a step, a file or an inline class. */
export function makeAction(
  context: DefinitionContext,
  node: Node | undefined,
  kind: 'action' | 'step' = 'action',
): ActionUse | undefined {
  if (node?.kind === 'map') return makeClassUse(context, node, kind)
  const text = textOf(node)
  if (node?.kind !== 'scalar' || text === undefined || text === '') return undefined
  if (/\.[tj]s$/.test(text)) return makeFileUse(context, { node, kind }, text)
  const { action } = context.sections
  const { report } = context.loading
  if (!action.entries.has(text) && (text.includes('/') || /\.[cm]?[tj]sx?$/.test(text))) {
    const hint = `A file name ends in .ts or .js; any other text is the name of an entry in "action"`
    report.add({ code: action.code, at: node, parameters: { name: text }, hint })
    return undefined
  }
  if (!checkName(action, text, { at: node, report })) return undefined
  const entry = action.entries.get(text)!.value
  return entry.kind === 'map' ? readClassUse(context, entry) : undefined
}

/** Records a class so that its config is checked and may use variables. */
export function makeClassUse(
  context: DefinitionContext,
  node: MapNode,
  kind: 'connection' | 'action' | 'step',
): ClassUse | undefined {
  context.classUses.push({ kind, node })
  const config = valueOf(node, 'config')
  if (config !== undefined) context.variablePlaces.push(config)
  return readClassUse(context, node)
}

function readClassUse(context: DefinitionContext, node: MapNode): ClassUse | undefined {
  const name = textOf(valueOf(node, 'class'))
  if (name === undefined) return undefined
  const config = valueOf(node, 'config')
  const use = {
    class: name,
    config: config?.kind === 'map' ? (configOf(context, config) as Record<string, unknown>) : {},
    at: locationOf(node),
  }
  context.actionNodes.set(use, node)
  return use
}

interface FilePlace {
  readonly node: ScalarNode
  readonly kind: 'action' | 'step'
}

function makeFileUse(context: DefinitionContext, { node, kind }: FilePlace, text: string): ActionUse | undefined {
  const { report, files } = context.loading
  const file = path.posix.normalize(text)
  if (/^migrations\/[^/]+\/[^/]+\.ts$/.test(file)) {
    const hint = `Use a file that contains the class of the ${kind}, for example src/todo/insert.ts`
    report.add({
      code: 'WP_DEFINITION_ACTION_INVALID',
      at: node,
      parameters: { problem: `${file} is a migration` },
      hint,
    })
    return undefined
  }
  const isRelative = !path.posix.isAbsolute(text) && !text.includes('\\') && !/^[a-z][a-z0-9+.-]*:/i.test(text)
  const known = context.actionFiles.get(file)
  if (known === true) return { file, at: locationOf(node) }
  const fileProblem = isRelative ? checkFile(context, file) : ({ problem: 'outside' } as const)
  context.actionFiles.set(file, fileProblem === undefined)
  if (fileProblem === undefined) return { file, at: locationOf(node) }
  if (fileProblem.problem === 'missing') {
    files.add(file)
    report.add({
      code: 'WP_BUILD_ACTION_MISSING',
      at: node,
      parameters: { file },
      hint: suggestFile(context, file),
    })
  } else if (fileProblem.problem === 'outside') {
    const problem = `"${text}" is outside the project`
    const hint = 'Write the path relative to waypost.yml, for example src/todo/insert.ts'
    report.add({ code: 'WP_DEFINITION_ACTION_INVALID', at: node, parameters: { problem }, hint })
  } else {
    const problem = `${file} cannot be used as ${kind === 'step' ? 'a step' : 'an action'}: ${fileProblem.reason}`
    report.add({ code: 'WP_DEFINITION_ACTION_INVALID', at: node, parameters: { problem } })
  }
  return undefined
}

function checkFile({ loading }: DefinitionContext, file: string): FileProblem | undefined {
  const { texts, changed, cache, actionFiles, code } = loading
  if (code !== undefined) return code.has(file) ? undefined : { problem: 'missing' }
  actionFiles.add(file)
  if (texts?.has(file) || (changed?.has(file) === false && cache.actionFiles.has(file))) return undefined
  const fileProblem = checkProjectFile(loading.folder, file)
  if (fileProblem === undefined) cache.actionFiles.add(file)
  else cache.actionFiles.delete(file)
  return fileProblem
}

function suggestFile({ loading }: DefinitionContext, file: string): string {
  if (loading.code !== undefined) {
    const near = loading.report.findNearest(file, loading.code)
    return `${near === undefined ? '' : `Did you mean ${near}? `}Code is deployed from a project: npx waypost deploy`
  }
  if (isLink(loading.folder, file)) return `${file} is a broken symbolic link: fix or remove it`
  const make = `waypost generate:action ${file}`
  const folder = path.posix.dirname(file)
  const own = path.posix.basename(file)
  const sources = sourcesIn(path.join(loading.folder.realRoot, folder), own)
  const suggestion = loading.report.findNearest(own, sources)
  return suggestion === undefined
    ? `Create it with: ${make}`
    : `Did you mean ${path.posix.join(folder, suggestion)}? To create a new file: ${make}`
}

/** Lazy, because it is only needed for hints. The missing file may exist again. */
function* sourcesIn(folder: string, missing: string): Iterable<string> {
  try {
    yield* readdirSync(folder)
      .filter((name) => /\.[tj]s$/.test(name) && name !== missing)
      .slice(0, 1000)
  } catch {
    // A missing folder has no files.
  }
}
