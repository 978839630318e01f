export const tokensTexts = {
  text: 'Valid access tokens. Revoked ones stop working on every server within a second.',
  token: 'Token',
  user: 'User',
  client: 'Client',
  expires: 'Expires',
  used: 'Last used',
  unused: 'never',
  valid: 'Valid tokens',
  none: 'None',
  all: 'Show all',
  revoke: 'Revoke',
  revokeToken: 'Revoke a token',
  revokeTitle: (id: string) => `Revoke the token ${id}?`,
  revokeText: (user: string, client: string) =>
    `It is a token of ${user} for the client ${client}. Every server rejects it within a second.`,
  revoked: (count: number, of?: { readonly user: string; readonly client: { readonly name: string } }) =>
    count === 0
      ? 'The token was no longer valid'
      : `Revoked the token${of === undefined ? '' : ` of ${of.user} for the client ${of.client.name}`}`,
  pasteTitle: 'Revoke a token',
  find: 'Show token',
  owner: 'Owner',
  ended: { expired: 'It has already expired.', revoked: 'It was already revoked.' },
  paste: 'Token or its ID',
  pasteText: 'Paste a leaked token to revoke it. It is sent to this server only.',
  revokeAll: (name: string) => `Revoke all of ${name}`,
  empty: 'No valid tokens',
  emptyText: 'Tokens appear here when users sign in and clients request them.',
} as const
