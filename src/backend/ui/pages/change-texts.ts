import { countOf } from '../components/format.ts'

export const changesTexts = {
  title: 'Changes',
  text: (base: { readonly kind: 'git' | 'start' | 'release'; readonly name: string }) =>
    base.kind === 'git'
      ? `Compared with the commit ${base.name.slice(0, 12)}. Code is not shown.`
      : 'Compared with the state when waypost dev was started. Code is not shown.',
  status: { added: 'added', changed: 'changed', removed: 'removed' },
  counts: (additions: number, deletions: number) =>
    `${countOf(additions, 'line')} added, ${countOf(deletions, 'line')} removed`,
  empty: 'No changes',
  emptyText: 'Files that differ from the last commit appear here.',
  deploy: 'Deploy',
  deployText: 'Commit the files, then compare them with a server:',
} as const
