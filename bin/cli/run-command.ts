import { existsSync } from 'node:fs'
import type { Config } from '@oclif/core/config'
import { nearest } from '../../src/kit/index.ts'
import { errors } from './errors.ts'
import type { WaypostHelp } from './help.ts'
import { handleClosedOutput } from './report-error.ts'

const globalFlags = new Set(['--no-color', '--verbose'])
const helpFlags = new Set(['--help', '-h'])

/**
 * Finds the command in the arguments and runs it, or shows help. The commands of plugins are only looked up for the list
 * of all commands and for names that Waypost does not have.
 */
export async function runCommand(own: Config, words: readonly string[]): Promise<void> {
  const leading = words.findIndex((word) => !globalFlags.has(word))
  const [id, ...rest] = leading === -1 ? [] : words.slice(leading)
  const isHelp = id === undefined || id === 'help' || asksForHelp([id, ...rest])
  const subject = isHelp && (id === undefined || helpFlags.has(id) || id === 'help') ? rest[0] : id
  const config = isThere(own, subject) ? own : await addPluginCommands(own, subject)
  if (isHelp) return showHelp(config, subject)
  const command = config.findCommand(id)
  if (command !== undefined) {
    await config.runCommand(id, [...words.slice(0, leading), ...rest], command)
    return
  }
  if (!isTopic(config, id)) throw unknown(config, id)
  if (config.findCommand(`${id}:${rest[0]}`) !== undefined) {
    throw errors.WP_CLI_COMMAND_UNKNOWN({
      command: `${id} ${rest[0]}`,
      next: `Did you mean waypost ${id}:${rest[0]}?`,
    })
  }
  await showTopic(config, id)
}

function isThere(config: Config, subject: string | undefined): boolean {
  return subject !== undefined && (config.findCommand(subject) !== undefined || isTopic(config, subject))
}

async function addPluginCommands(config: Config, subject: string | undefined): Promise<Config> {
  if (!existsSync('waypost.yml')) return config
  return (await import('./plugin-commands.ts')).addPluginCommands(config, subject)
}

function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? undefined : end).some((word) => helpFlags.has(word))
}

/** Whether there are commands below the name. A topic with only a description cannot be run. */
function isTopic(config: Config, name: string): boolean {
  return config.commandIDs.some((id) => id.startsWith(`${name}:`))
}

async function showHelp(config: Config, subject: string | undefined): Promise<void> {
  if (subject !== undefined && !isThere(config, subject)) throw unknown(config, subject)
  await (await loadHelp(config, process.stdout)).showHelp(subject === undefined ? [] : [subject])
}

async function loadHelp(config: Config, stream: NodeJS.WriteStream): Promise<WaypostHelp> {
  const { WaypostHelp } = await import('./help.ts')
  handleClosedOutput() // oclif is now loaded, and its handler throws on write errors
  return new WaypostHelp(config, stream)
}

async function showTopic(config: Config, topic: string): Promise<void> {
  await (await loadHelp(config, process.stderr)).showHelp([topic])
  process.exitCode = 2
}

function unknown(config: Config, id: string): Error {
  if (id.startsWith('-')) return errors.WP_CLI_FLAG_UNKNOWN({ flag: id, next: 'waypost --help lists the commands.' })
  const ids = config.commands.filter((command) => !command.hidden).map((command) => command.id)
  const suggestion = nearest(id, ids)
  const next = 'waypost --help lists the commands.'
  return errors.WP_CLI_COMMAND_UNKNOWN({
    command: id,
    next: suggestion === undefined ? next : `Did you mean waypost ${suggestion}? ${next}`,
  })
}
