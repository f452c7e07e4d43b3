# What people opened, of a log in the combined format: day, page and address of every request, and in
# the file ROBOTS day and address of those who do not behave like people.
#
#     LC_ALL=C TZ=UTC awk -v robots=ROBOTS -f visits.awk access.log
#
# The rules of docs/canonical-urls.md and of cleaning, as far as the demo's logs need them: names of
# robots, resources and keys of queries are a few, where a list for other logs is long.
BEGIN {
    FS = "\""
    months = "JanFebMarAprMayJunJulAugSepOctNovDec"
    resources = "\\.(css|js|json|png|jpe?g|gif|svg|ico|webp|woff2?|zip|gz|mp4)$|^/robots\\.txt$"
    sessions_and_campaigns = "^(utm_.*|gclid|fbclid|msclkid|phpsessid|jsessionid|sid)$"
}

# Quotes within a field are escaped: of what is asked for here, only the agent may go on behind one.
NF < 7 || split($2, request, " ") != 3 || request[3] !~ /^HTTP\// { next }
request[1] != "GET" || split($3, answer, " ") != 2 { next }
answer[1] != 200 && answer[1] != 206 && answer[1] != 304 { next }
split($1, head, " ") != 5 || head[1] !~ /^[0-9a-f.:]+$/ || /\000/ { next }

{
    if (!($6 in is_robot))
        is_robot[$6] = tolower($6) ~ /^-?$|bot|crawl|spider|curl|wget|python|https?:\/\//
    if (is_robot[$6]) next
    if (!(request[2] in pages)) pages[request[2]] = page(request[2])
    if (pages[request[2]] == "") next

    minute = substr(head[4], 2, 17) head[5]
    if (!(minute in moments)) moments[minute] = utc(minute)
    day = substr(moments[minute], 1, 10)
    client = day " " head[1]
    opened[client]++
    if (++rate[head[1], moments[minute]] > 60) is_fast[client] = 1
    if ($4 != "-") has_referrer[client] = 1
    print day, pages[request[2]], head[1]
}

END {
    for (client in opened)
        if (client in is_fast || (opened[client] >= 100 && !(client in has_referrer)))
            print client > robots
}

# The page behind a target, "" for a resource.
function page(target,    path, query, fields, key, i, j, kept, sorted) {
    sub(/#.*/, "", target)
    gsub(/\\x/, "%", target)
    if (target ~ /%/) target = with_capitals(target)
    path = target
    sub(/\?.*/, "", path)
    sub(/;(jsessionid|sid|phpsessid)=[^\/]*/, "", path)
    if (tolower(path) ~ resources) return ""
    if (path == target) return path
    query = substr(target, index(target, "?") + 1)
    for (i = split(query, fields, "&"); i > 0; i--) {
        key = tolower(fields[i])
        sub(/=.*/, "", key)
        if (key == "" || key ~ sessions_and_campaigns) continue
        for (j = kept++; j > 0 && sorted[j] > fields[i]; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = fields[i]
    }
    for (i = 1; i <= kept; i++) path = path (i == 1 ? "?" : "&") sorted[i]
    return path
}

# Escapes in capitals: %c3 is %C3.
function with_capitals(text,    done, at) {
    while (at = index(text, "%")) {
        done = done substr(text, 1, at - 1) toupper(substr(text, at, 3))
        text = substr(text, at + 3)
    }
    return done text
}

# 03/Mar/2025:01:04+0100 as day and minute in UTC.
function utc(text,    month, east) {
    month = (index(months, substr(text, 4, 3)) + 2) / 3
    east = 60 * substr(text, 19, 2) + substr(text, 21, 2)
    if (substr(text, 18, 1) == "-") east = -east
    text = substr(text, 8, 4) " " month " " substr(text, 1, 2) " " substr(text, 13, 2) " " \
        substr(text, 16, 2) " 00"
    return strftime("%Y-%m-%d %H:%M", mktime(text) - 60 * east)
}
