/** A rule that the document breaks on purpose. */
export interface Exception {
  readonly rule: string
  /** Where it is broken: as the linter names it, with dots. */
  readonly places: RegExp
  readonly reason: string
}

/** Every result of Spectral that is accepted; one that no longer appears fails the test as well. */
export const exceptions: readonly Exception[] = [
  {
    rule: 'info-contact',
    places: /^info$/,
    reason: 'Whoever runs a server is the contact, and the document does not know who that is.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    places: /^components\.schemas\.Plant\.properties\.(?:name|tag)$/,
    reason:
      'A name has any length that the body limit allows, which is set for each server and in bytes.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    places: /^components\.schemas\.Error\.properties\.message$/,
    reason: 'The message is answered, not taken, and its length is no promise.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    places: /^components\.schemas\.Error\.properties\.message$/,
    reason: 'The message is words for people.',
  },
  {
    rule: 'owasp:api4:2023-integer-limit',
    places: /^components\.schemas\.NewPlant\.allOf\.1\.properties\.id$/,
    reason:
      'The format says the bounds; as doubles, which JavaScript makes of them, they are wrong.',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    places: /^paths\.\/plants\.post\.responses\.(?:401|408|417|431)\.headers$/,
    reason: 'A reply before the check of the token cannot state the rate of that token.',
  },
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    places: /^(?:paths\.\/plants\.post\.responses\.(?:\d{3}|default)|components)\.headers$/,
    reason: 'CORS is off unless it is set for a server; no answer is promised to have the header.',
  },
  {
    rule: 'owasp:api9:2023-inventory-access',
    places: /^servers\.0$/,
    reason: 'Who may reach a server is not known to the document; `x-internal` is of no standard.',
  },
  {
    rule: 'owasp:api9:2023-inventory-environment',
    places: /^servers\.0\.description$/,
    reason: 'The one server is where the document was asked for, whatever it is used for.',
  },
]
