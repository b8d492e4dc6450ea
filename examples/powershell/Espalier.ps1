#Requires -Version 7.0
<#
.SYNOPSIS
  Logs in to Espalier, lists the folders of the top page by page, refreshes and logs out.
.DESCRIPTION
  UNTESTED: unlike the other examples, no test runs this one. Please tell us when something in it does not work.
  Needs PowerShell 7 and no module. Asks for the password, unless the variable ESPALIER_PASSWORD has it.
.EXAMPLE
  ./Espalier.ps1 -Api http://127.0.0.1:8080 -Username admin
#>
[CmdletBinding()]
param(
  [string] $Api = 'http://127.0.0.1:8080',
  [string] $Username = 'admin'
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

# The current pair, in memory only.
$script:Tokens = $null

# Answers with the status, the headers and the body, whatever the status is.
function Send-Post {
  param([string] $Path, [hashtable] $Body, [string] $AuthToken)
  $request = @{
    Uri                = $Api.TrimEnd('/') + $Path
    Method             = 'Post'
    ContentType        = 'application/json'
    Body               = [Text.Encoding]::UTF8.GetBytes((ConvertTo-Json $Body -Depth 10 -Compress))
    SkipHttpErrorCheck = $true
    MaximumRedirection = 0
    TimeoutSec         = 30
  }
  if ($AuthToken) { $request.Headers = @{ Authorization = "Bearer $AuthToken" } }
  try { $response = Invoke-WebRequest @request }
  catch { throw "$Api cannot be reached: $($_.Exception.Message)" }
  $text = [Text.Encoding]::UTF8.GetString($response.RawContentStream.ToArray())
  try { $value = if ($text) { ConvertFrom-Json $text -AsHashtable } else { @{} } }
  catch { throw "$Api$Path answered something that is not JSON. Is it Espalier?" }
  @{ Status = [int] $response.StatusCode; Headers = $response.Headers; Body = $value }
}

# Refusals are problem+json (RFC 9457), those of /graphql are GraphQL errors.
function Assert-Status {
  param([hashtable] $Answer, [int] $Status)
  $body = $Answer.Body
  if ($Answer.Status -eq $Status -and -not $body.ContainsKey('errors')) { return }
  if ($body.ContainsKey('errors')) { throw $body.errors[0].message }
  if ($body.ContainsKey('detail')) { throw $body.detail }
  throw "The server answered $($Answer.Status)."
}

function Save-Tokens {
  param([hashtable] $Answer)
  Assert-Status $Answer 200
  $script:Tokens = $Answer.Body
  # Early, after 80 % of its time, so that no request meets the end of the token.
  $script:RefreshAt = [DateTime]::UtcNow.AddSeconds($Answer.Body.expires_in * 0.8)
}

# The auth token goes along, expired or not. Both are replaced: a refresh token can be exchanged once.
function Update-Tokens {
  Save-Tokens (Send-Post '/login/refresh' @{ refreshToken = $Tokens.refreshToken } $Tokens.authToken)
}

function Invoke-Query {
  param([string] $Query, [hashtable] $Variables = @{})
  if ([DateTime]::UtcNow -ge $RefreshAt) { Update-Tokens }
  $body = @{ query = $Query; variables = $Variables }
  $answer = Send-Post '/graphql' $body $Tokens.authToken
  if ($answer.Status -eq 401 -and $answer.Headers['token-expired'] -contains 'true') {
    Update-Tokens
    $answer = Send-Post '/graphql' $body $Tokens.authToken
  }
  Assert-Status $answer 200
  $answer.Body.data
}

function Get-TopFolder {
  $query = 'query ($after: String) {
    folder { folders(first: 100, after: $after) { items { id name } pageInfo { hasNextPage endCursor } } } }'
  $after = $null
  do {
    $page = (Invoke-Query $query @{ after = $after }).folder.folders
    foreach ($folder in $page.items) { [pscustomobject] $folder }
    $after = $page.pageInfo.endCursor
  } while ($page.pageInfo.hasNextPage)
}

$password = $env:ESPALIER_PASSWORD
if (-not $password) {
  $password = Read-Host "Password of $Username" -AsSecureString | ConvertFrom-SecureString -AsPlainText
}

try {
  Save-Tokens (Send-Post '/login' @{ username = $Username; password = $password })
  try {
    Get-TopFolder
    Update-Tokens
  }
  finally {
    # The refresh token alone will do, also when the auth token has expired.
    $answer = Send-Post '/logout' @{ refreshToken = $Tokens.refreshToken }
  }
  Assert-Status $answer 204
}
catch {
  [Console]::Error.WriteLine("Espalier.ps1: $($_.Exception.Message)")
  exit 1
}
