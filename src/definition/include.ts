import { readdirSync } from 'node:fs'
import path from 'node:path'
import { isAlias, isMap, isScalar, isSeq, type Node as YamlNode } from 'yaml'
import type { IncludeSite } from '../kit/index.ts'
import { loadSource, includeSiteOf, type LoadContext } from './load-context.ts'
import { parsePointer } from '../schema/index.ts'
import { checkProjectFile, isLink, type FileProblem } from './read-file.ts'
import type { Report } from './report.ts'
import type { Origin, Span } from './source.ts'

/** The target of `!include` or a relative `$ref`: a file of the project and a value in it. */
export interface Target {
  /** As written. */
  readonly text: string
  /** Relative to the project's root. */
  readonly file: string
  readonly pointer: readonly string[]
}

/** A parsed value with its file. */
export interface LocatedNode {
  readonly node: YamlNode | null
  readonly origin: Origin
}

/** Parses `file#/json/pointer`, relative to the file that contains it. Returns undefined after reporting a problem. */
export function parseTarget(loading: LoadContext, text: string, at: Span): Target | undefined {
  const [name = '', fragment = ''] = text.split(/#(.*)/s)
  const from = at.origin.source.file
  const file = name === '' ? from : path.posix.join(path.posix.dirname(from), name)
  const pointer = parsePointer(fragment)
  if (file.startsWith('../') || file === '..' || path.posix.isAbsolute(name) || /^[a-z]:/i.test(name)) {
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_OUTSIDE', at, parameters: { target: text } })
  } else if (
    pointer === undefined ||
    name.includes('\\') ||
    name.includes('://') ||
    text === '' ||
    !/\.(ya?ml|json)$/.test(file)
  ) {
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_INVALID', at, parameters: { target: text } })
  } else {
    return { text, file, pointer }
  }
  return undefined
}

/** Maximum number of nested includes and consecutive aliases. More is a cycle. */
const maxHops = 100

/** Finds the target. Returns undefined after reporting a problem at its use. */
export function openTarget(loading: LoadContext, target: Target, at: Span): LocatedNode | undefined {
  const site = includeSiteOf(at)
  const includedAt = [site, ...at.origin.includedAt]
  const isAgain = at.origin.includedAt.some((one) => isSame(one, site))
  if (isAgain || includedAt.length > maxHops) {
    const hint = `${at.origin.source.file} → ${target.text}`
    const parameters = { target: target.text, chain: '' }
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_CYCLE', at, parameters, hint })
    return undefined
  }
  const source = loadSource(loading, target.file, includedAt)
  if ('problem' in source) {
    reportFileProblem(loading, { ...target, fileProblem: source }, at)
    return undefined
  }
  if (source.content === undefined) return undefined
  const located = locate(loading, { node: source.content, origin: { source, includedAt } }, target.pointer)
  if (located === 'nothing') {
    const parameters = { pointer: `/${target.pointer.join('/')}`, file: target.file }
    loading.report.add({
      code: 'WP_DEFINITION_INCLUDE_POINTER',
      at,
      parameters,
      hint: suggestKey(source.content, target, loading.report),
    })
    return undefined
  }
  return located
}

function isSame(one: IncludeSite, other: IncludeSite): boolean {
  return one.file === other.file && one.line === other.line && one.column === other.column
}

function suggestKey(content: YamlNode | null, { pointer }: Target, report: Report): string | undefined {
  const keys = isMap(content) ? content.items.map(({ key }) => String(isScalar(key) ? key.value : '')) : []
  const suggestion = pointer.length === 1 ? report.findNearest(pointer[0]!, keys) : undefined
  return suggestion === undefined ? undefined : `Did you mean "#/${suggestion}"?`
}

/** Follows keys through maps, lists, aliases and nested includes. Undefined if a problem was reported. */
function locate(
  loading: LoadContext,
  start: LocatedNode,
  pointer: readonly string[],
): LocatedNode | 'nothing' | undefined {
  let at: LocatedNode | undefined = start
  for (const key of pointer) {
    at = resolveNode(loading, at)
    if (at === undefined) return undefined
    const { node, origin }: LocatedNode = at
    const child = childOf(node, key)
    if (child === undefined) return 'nothing'
    at = { node: child, origin }
  }
  return at
}

/** Resolves aliases and includes to a map or list. */
function resolveNode(loading: LoadContext, start: LocatedNode): LocatedNode | undefined {
  let at: LocatedNode | undefined = start
  for (let hops = 0; hops < maxHops; hops += 1) {
    const { node, origin }: LocatedNode = at
    if (isAlias(node)) {
      at = { node: origin.source.aliases.get(node) ?? null, origin }
    } else if (isScalar(node) && node.tag === '!include') {
      const span = spanOfInclude(node, origin)
      const target = parseTarget(loading, String(node.value), span)
      at = target === undefined ? undefined : openTarget(loading, target, span)
      if (at === undefined) return undefined
    } else {
      return at
    }
  }
  return undefined
}

function childOf(node: YamlNode | null, key: string): YamlNode | null | undefined {
  if (isSeq(node))
    return /^(0|[1-9]\d{0,8})$/.test(key) ? ((node.items as YamlNode[])[Number(key)] ?? undefined) : undefined
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.source ?? name.value) === key)
  return pair === undefined ? undefined : ((pair.value ?? null) as YamlNode | null)
}

/** Returns the span from the tag to the end of its target. */
export function spanOfInclude(node: YamlNode, origin: Origin): Span {
  const [start = 0, end = start] = node.range ?? []
  return { origin, start: findTagBefore(origin, '!include', start), end }
}

/** Returns the offset of the tag before a value; the given offset if the tag is not nearby. */
export function findTagBefore({ source }: Origin, tag: string, offset: number): number {
  const from = Math.max(0, offset - 500)
  const found = source.text.slice(from, offset + tag.length).lastIndexOf(tag)
  return found === -1 ? offset : from + found
}

function reportFileProblem(
  loading: LoadContext,
  { file, text, fileProblem }: Target & { fileProblem: FileProblem },
  at: Span,
): void {
  if (fileProblem.problem === 'outside') {
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_OUTSIDE', at, parameters: { target: text } })
  } else if (fileProblem.problem === 'refused') {
    const { reason, hint } = fileProblem
    loading.report.add({ code: 'WP_DEFINITION_FILE_REFUSED', at, parameters: { file, reason }, hint })
  } else {
    const hint = suggestFromRoot(loading, text, at) ?? suggestFile(loading, file)
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_MISSING', at, parameters: { file }, hint })
  }
}

/** A file in a folder may name another one from the root, as `waypost.yml` does. */
function suggestFromRoot({ folder, texts }: LoadContext, text: string, { origin }: Span): string | undefined {
  const [name = '', ...rest] = text.split('#')
  const from = origin.source.file
  const base = path.posix.dirname(from)
  const isThere = texts?.has(name) ? texts.get(name) !== undefined : checkProjectFile(folder, name) === undefined
  if (base === '.' || !isThere) return undefined
  const target = [path.posix.relative(base, name), ...rest].join('#')
  return `Paths are relative to ${from}; write ${target}`
}

function suggestFile(loading: LoadContext, file: string): string | undefined {
  if (isLink(loading.folder, file)) return `${file} is a broken symbolic link`
  const suggestion = loading.report.findNearest(path.posix.basename(file), filesBeside(loading, file))
  return suggestion === undefined ? undefined : `Did you mean ${path.posix.join(path.posix.dirname(file), suggestion)}?`
}

/** Lazy, because it is only needed for hints. */
function* filesBeside({ folder }: LoadContext, file: string): Iterable<string> {
  try {
    const names = readdirSync(path.join(folder.realRoot, path.posix.dirname(file)))
    const own = path.posix.basename(file) // it may exist again
    yield* names.filter((name) => /\.(ya?ml|json)$/.test(name) && name !== own).slice(0, 1000)
  } catch {
    // A missing folder has no files.
  }
}
