import path from 'node:path'
import {
  Args,
  Flags,
  WaypostCommand,
  confirm,
  plural,
  shortId,
  shortenCommit,
  toPrintable,
  wrap,
} from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'
import type { Pull as Pulled } from '../src/project/index.ts'

export default class Pull extends WaypostCommand {
  static override description =
    'Apply changes from the server to the project\nCompares the active release with the one last deployed from Git, key by key. Your own changes are kept. An empty folder becomes a project.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> my-api --url https://api.example.com',
    '<%= config.bin %> <%= command.id %> --theirs --yes',
  ]
  static override enableJsonFlag = true
  static override args = {
    folder: Args.string({ description: 'Folder of the project; default: the current folder' }),
  }
  static override flags = {
    url: Flags.string({
      description: 'URL of a server to pull from, instead of WAYPOST_SYSTEM_URL',
      env: 'WAYPOST_URL',
    }),
    draft: Flags.boolean({ description: 'Pull the draft of the backend instead of the active release' }),
    theirs: Flags.boolean({ description: 'Resolve conflicts with the values of the server', exclusive: ['mine'] }),
    mine: Flags.boolean({ description: 'Resolve conflicts with the values of the folder' }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Pull)
    const prefer = flags.theirs ? 'theirs' : flags.mine ? 'mine' : undefined
    const { pullProject } = await import('../src/project/index.ts')
    const pulled = await pullProject({
      folder: path.resolve(args.folder ?? '.'),
      from: process.cwd(),
      variables: readEnvironment(process.cwd()),
      url: flags.url,
      isDraft: flags.draft,
      prefer,
      confirm: (pull) => this.#confirm(pull, flags),
    })
    if (pulled === undefined) {
      this.note('  Nothing was written.')
      process.exitCode = 1
      return { pulled: false }
    }
    this.#show(pulled, prefer, args.folder)
    if (pulled.conflicts.length > 0 && prefer === undefined) process.exitCode = 1
    const { address: _, isNew, missingCode, release = null, ...rest } = pulled
    return { pulled: true, ...rest, release, commit: pulled.commit ?? null, missing_code: missingCode, created: isNew }
  }

  async #confirm(
    { address, release, files, isNew }: Pulled,
    { yes: isConfirmed, draft: isDraft }: { readonly yes: boolean; readonly draft: boolean },
  ): Promise<boolean> {
    const origin = [...(isDraft ? ['draft'] : []), ...(release === undefined ? [] : [`release ${shortId(release)}`])]
    this.note(`  Source     ${address}   ${origin.join(' of ')}`)
    const symbols = { added: '+', changed: '~', removed: '-' }
    const shown = files.slice(0, maxShown)
    if (!isNew) for (const { file, change } of shown) this.note(`  ${symbols[change]} ${toPrintable(file)}`)
    if (!isNew && files.length > shown.length) this.note(`    and ${plural(files.length - shown.length, 'more file')}`)
    if (isConfirmed || isNew || !this.isInteractive()) return true
    return confirm(`  Write ${plural(files.length, 'file')}?`)
  }

  #show(
    { files, conflicts, missingCode, commit, isNew }: Pulled,
    prefer: 'mine' | 'theirs' | undefined,
    folder: string | undefined,
  ): void {
    if (files.length > 0)
      this.print(
        `  Wrote      ${plural(files.length, 'file')}${isNew ? ` of the definition${folder === undefined ? '' : ` to ${folder}`}` : ''}`,
      )
    else if (conflicts.length === 0) this.print(`  ${wrap(describeSame(commit), 2)}`)
    for (const { at, file, line } of conflicts) {
      const place = `${toPrintable(file)}${line === undefined ? '' : `:${line}`}`
      this.print(`  Conflict   ${place}   ${toPrintable(at ?? 'whole file')}`)
    }
    if (conflicts.length > 0 && prefer === undefined) {
      const [one, it] = conflicts.length === 1 ? ['This was', 'it'] : ['These were', 'them']
      const text = `${one} changed in the folder and on the server. The folder keeps its own version. To resolve ${it}, run waypost pull --theirs or --mine, or edit the files.`
      this.print(`  ${wrap(text, 2)}`)
    }
    if (missingCode.length === 0) return
    const names = missingCode.slice(0, maxShown).map(toPrintable).join(', ')
    const from =
      commit === undefined
        ? 'Copy them from the project that was deployed.'
        : `Get them from Git: commit ${shortenCommit(commit)}.`
    this.print(`  ${wrap(`A release contains no sources. Missing code: ${names}. ${from}`, 2)}`)
  }
}

/** Longer lists are cut. */
const maxShown = 20

function describeSame(commit: string | undefined): string {
  const since = commit === undefined ? '' : ` since the last deployment (commit ${shortenCommit(commit)})`
  return `Nothing to pull: the folder contains all changes from the server${since}.`
}
