import { existsSync } from 'node:fs'
import path from 'node:path'
import { findValue, openEditing } from '../definition/index.ts'
import { messageOf, readJsonFile } from '../kit/index.ts'
import { findPackage, type InstalledPackage } from '../plugin/index.ts'

/** The commands of an installed plugin package, as data. */
export interface PluginCommands {
  /** The package. */
  readonly name: string
  readonly folder: string
  /** Without hooks and plugins of its own. */
  readonly packageJson: Readonly<Record<string, unknown>> & { readonly oclif: Readonly<Record<string, unknown>> }
  /** By id. Their texts contain no templates and no control characters. */
  readonly commands: Readonly<Record<string, CommandData>>
  /** Why commands of the package are ignored. */
  readonly problems: readonly string[]
}

/** A command in `oclif.manifest.json`. */
export type CommandData = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly aliases: readonly string[]
  readonly hiddenAliases: readonly string[]
}

/**
 * Reads the commands of the packages that are listed in `plugins:`, without running their code.
 * @param builtIn the ids of Waypost's own commands, whose topics plugins cannot use
 */
export function readPluginCommands(folder: string, builtIn: readonly string[]): readonly PluginCommands[] {
  const taken = takenBy(builtIn)
  return listPackages(folder).flatMap((name) => {
    const found = findPackage(folder, name)
    const manifest = found === undefined ? undefined : path.join(found.folder, 'oclif.manifest.json')
    return manifest !== undefined && existsSync(manifest) ? [readCommands(name, { ...found!, manifest, taken })] : []
  })
}

/** Returns why names of commands cannot be used by a plugin. */
export function checkCommandNames(names: readonly string[], builtIn: readonly string[]): readonly string[] {
  const taken = takenBy(builtIn)
  return names.flatMap((name) => findIdProblem(name, taken) ?? [])
}

function takenBy(builtIn: readonly string[]): ReadonlySet<string> {
  return new Set(['help', ...builtIn.map(topicOf)])
}

/** Returns the commands and aliases that several plugins provide, with the packages. */
export function findCommandsTwice(plugins: readonly PluginCommands[]): ReadonlyMap<string, readonly [string, string]> {
  const first = new Map<string, string>()
  const twice = new Map<string, readonly [string, string]>()
  for (const { name, commands } of plugins) {
    for (const id of new Set(Object.values(commands).flatMap(namesOf))) {
      const before = first.get(id)
      if (before === undefined) first.set(id, name)
      else if (!twice.has(id)) twice.set(id, [before, name])
    }
  }
  return twice
}

const packageName = /^(@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*$/

function listPackages(folder: string): readonly string[] {
  if (!existsSync(path.join(folder, 'waypost.yml'))) return []
  const listed = findValue(openEditing(folder), ['plugins'])
  if (!Array.isArray(listed)) return []
  const names = listed.map((item: unknown) => (isObject(item) ? item['name'] : item))
  return [...new Set(names.filter((name) => typeof name === 'string'))].filter((name) => packageName.test(name))
}

interface Place extends InstalledPackage {
  readonly manifest: string
  readonly taken: ReadonlySet<string>
}

function readCommands(name: string, { folder, json, manifest, taken }: Place): PluginCommands {
  const oclif = isObject(json['oclif']) ? json['oclif'] : {}
  // oclif would run hooks and load plugins of the package.
  const topics = Object.entries(isObject(oclif['topics']) ? oclif['topics'] : {}).filter(
    ([topic, one]) => isObject(one) && !taken.has(topic),
  )
  const kept = { commands: oclif['commands'], topics: toPlainTexts(Object.fromEntries(topics)) }
  const packageJson = { name, version: json.version ?? '0.0.0', type: json['type'], oclif: kept }
  const empty = { name, folder, packageJson, commands: {} }
  try {
    const { version, commands } = readJsonFile(manifest) as Record<string, unknown>
    if (version !== json.version) {
      const problem = `oclif.manifest.json is of version ${String(version)}, the package of ${json.version}`
      return { ...empty, problems: [`${problem}: its commands are ignored`] }
    }
    const problems: string[] = []
    const isOwn = (id: string): boolean => {
      const problem = findIdProblem(id, taken)
      if (problem !== undefined) problems.push(problem)
      return problem === undefined
    }
    const read = Object.entries(isObject(commands) ? commands : {}).flatMap(([id, command]) =>
      isObject(command) && isOwn(id) ? [[id, readCommand(id, command, isOwn)] as const] : [],
    )
    return { ...empty, commands: Object.fromEntries(read), problems }
  } catch (error) {
    return { ...empty, problems: [`Cannot read oclif.manifest.json: ${messageOf(error)}`] }
  }
}

function findIdProblem(id: string, taken: ReadonlySet<string>): string | undefined {
  if (!/^[a-z0-9][\w-]*(:[a-z0-9][\w-]*)*$/i.test(id)) return `The command "${id}" is ignored: its name is not valid`
  const topic = topicOf(id)
  return taken.has(topic) ? `The command "${id}" is ignored: "${topic}" belongs to Waypost` : undefined
}

const texts = ['description', 'summary', 'usage', 'examples', 'deprecationOptions', 'args', 'flags']
const others = ['hidden', 'strict', 'enableJsonFlag', 'isESM', 'relativePath', 'state', '--']

/** Keeps what help and the parser need. Help would load the code of commands with `hasDynamicHelp`. */
function readCommand(id: string, command: Readonly<Record<string, unknown>>, isOwn: (id: string) => boolean) {
  const pick = (keys: readonly string[]) =>
    Object.fromEntries(keys.flatMap((key) => (command[key] === undefined ? [] : [[key, command[key]]])))
  const own = (key: string) => {
    const value = command[key]
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string').filter(isOwn) : []
  }
  return {
    args: {},
    flags: {},
    ...pick(others),
    ...(toPlainTexts(pick(texts), id) as object),
    id,
    aliases: own('aliases'),
    hiddenAliases: own('hiddenAliases'),
    hasDynamicHelp: false,
  }
}

/** Help renders texts as EJS templates, which are code, and prints them to a terminal. */
function toPlainTexts(value: unknown, id = ''): unknown {
  if (typeof value === 'string') {
    return value
      .replaceAll(/<%=\s*config\.bin\s*%>/g, 'waypost')
      .replaceAll(/<%=\s*command\.id\s*%>/g, id)
      .replaceAll('<%', '< %') // `<%%` would be a template when it is rendered again
      .replaceAll(/[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
  }
  if (Array.isArray(value)) return value.map((item) => toPlainTexts(item, id))
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([key]) => /^[\w:-]+$/.test(key)) // names of flags are templates too
  return Object.fromEntries(entries.map(([key, item]) => [key, toPlainTexts(item, id)]))
}

function namesOf({ id, aliases, hiddenAliases }: CommandData): readonly string[] {
  return [id, ...aliases, ...hiddenAliases]
}

function topicOf(id: string): string {
  return id.split(':', 1)[0]!
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
