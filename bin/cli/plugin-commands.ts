import { Config, Plugin } from '@oclif/core/config'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../../src/kit/index.ts'
import {
  checkCommandNames,
  findCommandsTwice,
  readPluginCommands,
  shareWaypost,
  type PluginCommands,
} from '../../src/project/index.ts'
import { errors } from './errors.ts'

/**
 * Loads the configuration again with the commands of the project's plugins. Their code only runs with a command.
 * @param wanted the command to run or describe
 * @throws WP_CLI_COMMAND_TWICE
 */
export async function addPluginCommands(config: Config, wanted: string | undefined): Promise<Config> {
  const found = readPluginCommands('.', config.commandIDs)
  if (found.length === 0) return config
  const twice = findCommandsTwice(found)
  const conflict = twice.get(wanted ?? '')
  if (conflict !== undefined)
    throw errors.WP_CLI_COMMAND_TWICE({ command: wanted!, first: conflict[0], second: conflict[1] })
  shareWaypost()
  const plugins = await Promise.all(found.map((one) => makePlugin(one, twice)))
  const all = [...config.plugins.values(), ...plugins]
  return Config.load({ ...config.options, plugins: new Map(all.map((plugin) => [plugin.name, plugin])) })
}

/**
 * Makes a plugin of oclif from data. oclif's `pluginAdditions` would run code: configuration files such as
 * `.oclifrc.js`, hooks, nested plugins, and commands if the manifest is damaged.
 */
async function makePlugin(
  { name, folder, packageJson, commands }: PluginCommands,
  twice: ReadonlyMap<string, unknown>,
): Promise<Plugin> {
  // Only a root plugin is loaded with a given package.json.
  const plugin = new Plugin({ name, root: folder, pjson: packageJson as never, isRoot: true })
  const isFree = (id: string) => !twice.has(id)
  const manifest = {
    version: packageJson['version'],
    commands: Object.fromEntries(
      Object.entries(commands)
        .map(([id, command]) => [id, withoutAliases(command, isFree)] as const)
        // A command whose name is ambiguous can still be run by an alias.
        .filter(([id, { aliases, hiddenAliases }]) => isFree(id) || aliases.length + hiddenAliases.length > 0)
        .map(([id, command]) => [id, isFree(id) ? command : { ...command, hidden: true }]),
    ),
  }
  Object.assign(plugin, { _manifest: async () => manifest })
  await plugin.load()
  plugin.isRoot = false
  return plugin
}

function withoutAliases(command: PluginCommands['commands'][string], isFree: (id: string) => boolean) {
  const { aliases, hiddenAliases } = command
  return { ...command, aliases: aliases.filter(isFree), hiddenAliases: hiddenAliases.filter(isFree) }
}

/**
 * Writes `oclif.manifest.json` of the plugin package in a folder. Loads its commands.
 * @param builtIn the ids of Waypost's own commands
 * @returns the ids of its commands
 * @throws WP_CLI_MANIFEST
 */
export async function writePluginManifest(folder: string, builtIn: readonly string[]): Promise<readonly string[]> {
  shareWaypost()
  const plugin = new Plugin({ root: folder, isRoot: true, ignoreManifest: true, errorOnManifestCreate: true })
  try {
    await plugin.load()
  } catch (cause) {
    throw errors.WP_CLI_MANIFEST({ reason: messageOf(cause) }, { cause })
  }
  const { commands } = plugin.manifest as { readonly commands: Readonly<Record<string, PluginCommand>> }
  const names = Object.values(commands).flatMap(({ id, aliases, hiddenAliases }) => [id, ...aliases, ...hiddenAliases])
  const [problem] = checkCommandNames(names, builtIn)
  if (problem !== undefined) throw errors.WP_CLI_MANIFEST({ reason: problem })
  if (names.length === 0) throw errors.WP_CLI_MANIFEST({ reason: 'its package.json lists no commands in "oclif"' })
  writeFileSync(path.join(folder, 'oclif.manifest.json'), `${JSON.stringify(plugin.manifest)}\n`)
  return Object.keys(commands)
}

type PluginCommand = Pick<Plugin['commands'][number], 'id' | 'aliases' | 'hiddenAliases'>
