import { messageOf, nearest, type WaypostError } from '../../src/kit/index.ts'
import { errors } from './errors.ts'

/** What oclif throws when the words behind a command do not fit it; which of these are there depends on the case. */
interface UsageError extends Error {
  /** Flags that do not exist. */
  readonly flags?: readonly string[]
  /** Arguments: the missing ones, or those that there is no place for. */
  readonly args?: readonly (string | { readonly name: string })[]
  readonly parse?: { readonly input?: { readonly flags?: Readonly<Record<string, unknown>> } }
}

/** Says in one sentence why the words behind a command do not fit it. */
export function describeUsage(thrown: UsageError, command: string): WaypostError {
  const [flag] = thrown.flags ?? []
  if (flag !== undefined) return unknownFlag(flag, thrown, command)
  return errors.WP_CLI_USAGE({ problem: describeArguments(thrown) ?? inOneSentence(messageOf(thrown)), command })
}

function unknownFlag(flag: string, thrown: UsageError, command: string): WaypostError {
  const meant = nearest(flag.replace(/^-+/, ''), Object.keys(thrown.parse?.input?.flags ?? {}))
  const next = `waypost ${command} --help lists the flags.`
  return errors.WP_CLI_FLAG_UNKNOWN({ flag, next: meant === undefined ? next : `Did you mean --${meant}? ${next}` })
}

function describeArguments({ args }: UsageError): string | undefined {
  const first = args?.[0]
  if (first === undefined) return undefined
  if (typeof first === 'string') return `Unexpected argument "${first}"`
  return `Missing argument ${first.name.toUpperCase()}`
}

/** oclif's messages spread over lines and end with an advice that the hint gives. */
function inOneSentence(message: string): string {
  return message
    .replace(/\n?See more help with --help$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^Parsing (\S+)\s+/, '$1: ')
    .replace(/^\s*Missing required flag (\S+)/gm, 'Missing flag --$1')
    .split('\n')
    .map((line) => line.trim())
    .join('; ')
}
