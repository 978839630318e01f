import { messageOf, nearest, type WaypostError } from '../../src/kit/index.ts'
import { errors } from './errors.ts'

/** oclif's errors for wrong arguments. Which properties are set depends on the error. */
interface UsageError extends Error {
  /** Unknown flags. */
  readonly flags?: readonly string[]
  /** Missing or unexpected arguments. */
  readonly args?: readonly (string | { readonly name: string })[]
  readonly parse?: { readonly input?: { readonly flags?: Readonly<Record<string, unknown>> } }
}

/** Returns a one-sentence error for wrong arguments. */
export function describeUsage(thrown: UsageError, command: string): WaypostError {
  const [flag] = thrown.flags ?? []
  if (flag !== undefined) return unknownFlag(flag, thrown, command)
  return errors.WP_CLI_USAGE({ problem: describeArguments(thrown) ?? inOneSentence(messageOf(thrown)), command })
}

function unknownFlag(flag: string, thrown: UsageError, command: string): WaypostError {
  const suggestion = nearest(flag.replace(/^-+/, ''), Object.keys(thrown.parse?.input?.flags ?? {}))
  const next = `waypost ${command} --help lists the flags.`
  return errors.WP_CLI_FLAG_UNKNOWN({
    flag,
    next: suggestion === undefined ? next : `Did you mean --${suggestion}? ${next}`,
  })
}

function describeArguments({ args }: UsageError): string | undefined {
  const first = args?.[0]
  if (first === undefined) return undefined
  if (typeof first === 'string') return `Unexpected argument "${first}"`
  return `Missing argument ${first.name.toUpperCase()}`
}

/** oclif's messages have several lines and end with advice that our hint already gives. */
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
